import { type DragEvent, useState } from 'react'
import { droppedFiles, MAX_FILES } from './dropped-files.ts'
import { FilePicker, type UploadProps } from './upload-button.tsx'
import { UploadList } from './upload-list.tsx'
import { type UseUpload, useUpload } from './use-upload.ts'
import { useWords } from './use-words.ts'
import { countIn } from './words.ts'

/** An area to drop files and folders, with a button in it, and the list of its uploads. */
export function UploadDropzone({ control, ...props }: UploadProps) {
  return control ? <ControlledDropzone {...props} control={control} /> : <OwnDropzone {...props} />
}

function OwnDropzone(props: UploadProps) {
  return <ControlledDropzone {...props} control={useUpload(props)} />
}

function ControlledDropzone(props: UploadProps & { control: UseUpload }) {
  const { control, disabled, multiple = true } = props
  const words = useWords(props)
  const [isOver, setOver] = useState(false)
  const [tooMany, setTooMany] = useState(false)

  function hover(event: DragEvent): void {
    event.preventDefault()
    setOver(!disabled && event.type !== 'dragleave')
  }

  async function drop(event: DragEvent): Promise<void> {
    event.preventDefault()
    setOver(false)
    if (disabled) return
    const { files, unreadable, hasMore } = await droppedFiles(event.dataTransfer)
    setTooMany(hasMore)
    control.addUnreadable(unreadable, words.unreadable)
    control.add(multiple ? files : files.slice(0, 1))
  }

  return (
    <div className={`sluice ${props.className ?? ''}`}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same for keyboard users */}
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
      {tooMany && (
        <p role="alert" className="sluice-notice">
          {countIn({ other: words.tooMany }, MAX_FILES, words.lang)}
        </p>
      )}
      <UploadList control={control} words={words} />
    </div>
  )
}
