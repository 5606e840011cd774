import { useEffect, useMemo, useRef, useState } from 'react'
import type { FileUpload, UploadState } from './file-upload.ts'
import { UploadRows } from './upload-rows.tsx'
import type { UseUpload } from './use-upload.ts'
import { describeUpload, type Words } from './words.ts'

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

/** If more uploads change at the same time, the others are counted instead of announced. */
const MOST_SAID = 5

/** Announces only changes of state, not every percent of progress. */
function useChanges(uploads: readonly FileUpload[], words: Words): string {
  const before = useRef<readonly FileUpload[]>([])
  const [said, setSaid] = useState('')
  useEffect(() => {
    const stateBefore = statesOf(before.current)
    const changed = uploads.filter(
      (upload, at) => upload.state !== 'queued' && upload.state !== stateBefore(upload.id, at),
    )
    before.current = uploads
    if (changed.length === 0) return
    const each = changed
      .slice(0, MOST_SAID)
      .map((upload) => words.said(upload.name, describeUpload(upload, words)))
    const more = changed.length - each.length
    setSaid([...each, ...(more > 0 ? [words.saidMore(more)] : [])].join(' '))
  }, [uploads, words])
  return said
}

/** Looks at an upload's position first, and searches for it only if uploads were removed from the list. */
function statesOf(uploads: readonly FileUpload[]): (id: string, at: number) => UploadState | undefined {
  let byId: Map<string, UploadState> | undefined
  return (id, at) => {
    const same = uploads[at]
    if (same?.id === id) return same.state
    byId ??= new Map(uploads.map((upload) => [upload.id, upload.state]))
    return byId.get(id)
  }
}
