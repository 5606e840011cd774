import { failsAgain } from './failure.ts'
import type { FileUpload, UploadState } from './file-upload.ts'
import { countIn, describeUpload, fill, type Words } from './words.ts'

/** What the lists of uploads in React and in the web component show alike. */

/** The row's action other than removing the upload. */
export type Step = 'pause' | 'resume' | 'retry'

export function stepOf(upload: FileUpload): Step | undefined {
  const { state, unreadable } = upload
  if (unreadable || state === 'done' || state === 'missing') return undefined
  if (state === 'paused') return 'resume'
  if (state !== 'failed') return 'pause'
  return failsAgain(upload) ? undefined : 'retry'
}

/** SVG paths, 16 by 16. */
export const ICONS: Record<Step | 'cancel', string> = {
  pause: 'M5.5 3.5v9m5-9v9',
  resume: 'M5 3.5v9l7-4.5z',
  retry: 'M12.5 8a4.5 4.5 0 1 1-1.4-3.2M12.5 2.5v3h-3',
  cancel: 'm4 4 8 8m0-8-8 8',
}

/** If more uploads change at the same time, the others are counted instead of announced. */
const MOST_SAID = 5

/**
 * What screen readers announce: only changes of state, not every percent of progress. Undefined if there are none.
 */
export function sayChanges(
  before: readonly FileUpload[],
  uploads: readonly FileUpload[],
  words: Words,
): string | undefined {
  const stateBefore = statesOf(before)
  const changed = uploads.filter(
    (upload, at) => upload.state !== 'queued' && upload.state !== stateBefore(upload.id, at),
  )
  if (changed.length === 0) return undefined
  const each = changed
    .slice(0, MOST_SAID)
    .map((upload) => fill(words.said, { name: upload.name, state: describeUpload(upload, words) }))
  const more = changed.length - each.length
  return [...each, ...(more > 0 ? [countIn(words.saidMore, more, words.lang)] : [])].join(' ')
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
