import { useEffect, useRef, useState } from 'react'
import { describeUpload } from './describe-upload.ts'
import type { FileUpload, UploadState } from './file-upload.ts'
import { UploadRow } from './upload-row.tsx'
import type { UseUpload } from './use-upload.ts'
import type { Words } from './words.ts'

export function UploadList({ control, words }: { control: UseUpload; words: Words }) {
  const said = useChanges(control.uploads, words)
  return (
    <>
      {control.uploads.length > 0 && (
        // biome-ignore lint/a11y/noRedundantRoles: without list-style Safari does not take it for a list
        <ul role="list" className="sluice-list" aria-label={words.list}>
          {control.uploads.map((upload) => (
            <UploadRow key={upload.id} upload={upload} control={control} words={words} />
          ))}
        </ul>
      )}
      <p role="status" className="sluice-said">
        {said}
      </p>
    </>
  )
}

/** What became of which upload, at its changes of state alone: nobody wants to hear every percent. */
function useChanges(uploads: readonly FileUpload[], words: Words): string {
  const before = useRef(new Map<string, UploadState>())
  const [said, setSaid] = useState('')
  useEffect(() => {
    const changed = uploads.filter(({ id, state }) => before.current.get(id) !== state && state !== 'queued')
    before.current = new Map(uploads.map(({ id, state }) => [id, state]))
    if (changed.length > 0)
      setSaid(changed.map((upload) => words.said(upload.name, describeUpload(upload, words))).join(' '))
  }, [uploads, words])
  return said
}
