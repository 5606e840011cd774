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
 * Lists the uploads left by an earlier page, in the order they were added; those of another tab or list, once that is
 * closed.
 */
export async function restoreUploads({ kept, place, closed, isListed, list }: Restoring): Promise<void> {
  /** Returns a function that lists the upload, so that several are listed in order. */
  async function takeOver(id: string): Promise<(() => void) | undefined> {
    if (closed.aborted || isListed(id)) return undefined
    const hold = await holdIfFree(id)
    if (hold) return goOnHolding(id, hold)
    void holdUpload(id, closed).then(async (late) => late && (await goOnHolding(id, late))())
    return undefined
  }

  async function goOnHolding(id: string, hold: Hold): Promise<() => void> {
    // Read now: its previous holder may have progressed further, or finished it.
    const stored = await kept.find(id)
    return () => {
      if (!stored || closed.aborted || isListed(id)) hold()
      else list(keptEntry(stored.upload, stored.file, hold))
    }
  }

  // The browser answers all simultaneous requests in one task, during which the page does not respond.
  await inSlices(await kept.ids(place), async (some) => {
    for (const found of await Promise.all(some.map(takeOver))) found?.()
  })
}
