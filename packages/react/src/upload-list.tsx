import { useEffect, useMemo, useRef, useState } from 'react'
import type { FileUpload } from './file-upload.ts'
import { sayChanges } from './show-upload.ts'
import { UploadRows } from './upload-rows.tsx'
import type { UseUpload } from './use-upload.ts'
import type { Words } from './words.ts'

/** For a longer list, the page only contains the visible rows, and some before and after them. */
const ROWS_AT_ONCE = 50

export function UploadList({ control, words }: { control: UseUpload; words: Words }) {
  const { uploads, pause, resume, retry, cancel } = control
  const said = useChanges(uploads, words)
  const actions = useMemo(() => ({ pause, resume, retry, cancel }), [pause, resume, retry, cancel])
  const starts = Array.from({ length: Math.ceil(uploads.length / ROWS_AT_ONCE) }, (_, n) => n * ROWS_AT_ONCE)
  return (
    <>
      {uploads.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: list rows are in groups, which <ul> does not allow
        <div role="list" className="sluice-list" aria-label={words.list}>
          {starts.map((start) => (
            <UploadRows
              key={start}
              uploads={uploads.slice(start, start + ROWS_AT_ONCE)}
              place={{ start, count: uploads.length, isWhole: uploads.length <= ROWS_AT_ONCE }}
              control={actions}
              words={words}
            />
          ))}
        </div>
      )}
      <p role="status" className="sluice-said">
        {said}
      </p>
    </>
  )
}

function useChanges(uploads: readonly FileUpload[], words: Words): string {
  const before = useRef<readonly FileUpload[]>([])
  const [said, setSaid] = useState('')
  useEffect(() => {
    const changes = sayChanges(before.current, uploads, words)
    before.current = uploads
    if (changes) setSaid(changes)
  }, [uploads, words])
  return said
}
