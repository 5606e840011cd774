import { type Entry, inSlices, keptEntry } from './entries.ts'
import { type Hold, holdIfFree, holdUpload } from './hold-upload.ts'
import type { KeptUploads } from './kept-uploads.ts'

type Restoring = {
  kept: Pick<KeptUploads, 'ids' | 'find'>
  place: string
  closed: AbortSignal
  isListed(id: string): boolean
  list(entry: Entry): void
}

/**
 * Lists the uploads left by an earlier page, in the order they were added. Those of another open tab or list follow
 * once it is closed.
 */
export async function restoreUploads({ kept, place, closed, isListed, list }: Restoring): Promise<void> {
  /** Returns a function that lists the upload, so that several uploads are listed in order. */
  async function takeOver(id: string): Promise<(() => void) | undefined> {
    if (closed.aborted || isListed(id)) return undefined
    const hold = await holdIfFree(id)
    if (hold) return goOnHolding(id, hold)
    void holdUpload(id, closed).then(async (late) => late && (await goOnHolding(id, late))())
    return undefined
  }

  async function goOnHolding(id: string, hold: Hold): Promise<() => void> {
    // Read only now, because the previous holder may have made progress or finished the upload.
    const stored = await kept.find(id)
    return () => {
      if (!stored || closed.aborted || isListed(id)) hold()
      else list(keptEntry(stored.upload, stored.file, hold))
    }
  }

  // The browser completes all simultaneous lock requests in one task, during which the page does not respond.
  await inSlices(await kept.ids(place), async (some) => {
    for (const found of await Promise.all(some.map(takeOver))) found?.()
  })
}
