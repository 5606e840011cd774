import { type ReactNode, useEffect, useRef } from 'react'
import type { UploadOptions } from './file-upload.ts'
import { UploadList } from './upload-list.tsx'
import { type UseUpload, useUpload } from './use-upload.ts'
import { useWords } from './use-words.ts'
import type { SomeWords } from './words.ts'

export type UploadProps = UploadOptions & {
  /** The result of `useUpload`, if you call it yourself. In that case, pass the options to the hook instead. */
  control?: UseUpload
  /** As in `<input type="file">`: `image/*`, `.pdf`. Your backend's tokens determine what may be uploaded. */
  accept?: string
  /** Whether several files may be picked; defaults to true. */
  multiple?: boolean
  /** Whether to pick an entire folder instead of files. */
  folder?: boolean
  disabled?: boolean
  /** The language of the texts, such as `de`; defaults to the document's or the browser's. */
  lang?: string
  /** Replaces some or all of the texts. */
  words?: SomeWords
  className?: string
  /** Replaces "Choose files". */
  children?: ReactNode
}

/** A button, and the list of its uploads. */
export function UploadButton({ control, ...props }: UploadProps) {
  return control ? <ControlledButton {...props} control={control} /> : <OwnButton {...props} />
}

function OwnButton(props: UploadProps) {
  return <ControlledButton {...props} control={useUpload(props)} />
}

function ControlledButton(props: UploadProps & { control: UseUpload }) {
  const words = useWords(props)
  return (
    <div className={`sluice ${props.className ?? ''}`}>
      <FilePicker {...props}>{props.children ?? words.choose}</FilePicker>
      <UploadList control={props.control} words={words} />
    </div>
  )
}

type PickerProps = Pick<UploadProps, 'accept' | 'multiple' | 'folder' | 'disabled' | 'children'> & {
  control: UseUpload
}

/** A label for a file input, which works with the keyboard, and before any script runs. */
export function FilePicker({ control, accept, multiple = true, folder, disabled, children }: PickerProps) {
  const input = useRef<HTMLInputElement>(null)
  const { add } = control
  const take = () => {
    const files = [...(input.current?.files ?? [])]
    if (files.length === 0) return
    input.current!.value = ''
    add(files)
  }
  // The user may have picked files before the script ran.
  useEffect(take, [])
  useEffect(() => void input.current?.toggleAttribute('webkitdirectory', folder === true), [folder])
  return (
    <label className="sluice-choose" data-disabled={disabled || undefined}>
      {children}
      <input
        ref={input}
        type="file"
        accept={accept}
        multiple={multiple}
        disabled={disabled}
        onChange={take}
      />
    </label>
  )
}
