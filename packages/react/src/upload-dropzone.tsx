import { type DragEvent, useState } from 'react'
import { droppedFiles } from './dropped-files.ts'
import { FilePicker, type UploadProps, useWords } from './upload-button.tsx'
import { UploadList } from './upload-list.tsx'
import { type UseUpload, useUpload } from './use-upload.ts'

/** A place to drop files and folders, with a button in it, and the list of what it uploads. */
export function UploadDropzone({ control, ...props }: UploadProps) {
  return control ? <ControlledDropzone {...props} control={control} /> : <OwnDropzone {...props} />
}

function OwnDropzone(props: UploadProps) {
  return <ControlledDropzone {...props} control={useUpload(props)} />
}

function ControlledDropzone(props: UploadProps & { control: UseUpload }) {
  const { control, disabled, multiple = true } = props
  const words = useWords(props.words)
  const [isOver, setOver] = useState(false)

  function hover(event: DragEvent): void {
    event.preventDefault()
    setOver(!disabled && event.type !== 'dragleave')
  }

  async function drop(event: DragEvent): Promise<void> {
    event.preventDefault()
    setOver(false)
    if (disabled) return
    const { files, faults } = await droppedFiles(event.dataTransfer)
    control.add(multiple ? files : files.slice(0, 1))
    // For the log of the page, as whatever nobody catches.
    if (faults.length > 0) throw new AggregateError(faults, `${faults.length} of the drop could not be read.`)
  }

  return (
    <div className={`sluice ${props.className ?? ''}`}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard */}
      <div
        className="sluice-dropzone"
        data-over={isOver || undefined}
        onDragEnter={hover}
        onDragOver={hover}
        onDragLeave={hover}
        onDrop={drop}
      >
        <span>{words.drop}</span>
        <FilePicker {...props}>{props.children ?? words.choose}</FilePicker>
      </div>
      <UploadList control={control} words={words} />
    </div>
  )
}
