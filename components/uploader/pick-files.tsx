'use client'

import { FileUp } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { buttonLook } from '../ui/button.tsx'

/** Takes files until the uploader is there, picked or dropped. */
export function PickFiles({ onPick }: { onPick: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const pick = (list: FileList | null | undefined) => {
    if (list?.length) onPick([...list])
  }
  // Somebody may have been quicker than the script.
  useEffect(() => pick(input.current?.files))
  return (
    <section
      aria-label="Files to upload"
      className="flex h-[26.25rem] flex-col items-center justify-center gap-4 rounded-lg border border-dashed bg-surface p-6 text-center"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        pick(event.dataTransfer.files)
      }}
    >
      <FileUp className="size-8 text-ink-faint" aria-hidden />
      <p className="max-w-md text-ink-soft">
        Drop files here. While they upload, cut the connection, end the token or reload the page: they go on
        where they were. Files go to this Pipe's bucket for real, and count.
      </p>
      <label
        className={buttonLook(
          { tone: 'primary' },
          'cursor-pointer focus-within:outline-2 focus-within:outline-water focus-within:outline-offset-2',
        )}
      >
        Browse files
        <input
          ref={input}
          type="file"
          multiple
          className="sr-only"
          onChange={(event) => pick(event.target.files)}
        />
      </label>
    </section>
  )
}
