import { endUpload } from '../endings/end-upload.ts'
import { findLate, isLate, retirePartials } from '../ledger/late-uploads.ts'
import type { UploadContext } from '../upload-context.ts'

/** Ends uploads that were not finished in time, except those that somebody is writing or that have all their bytes. */
export async function expireUploads(
  context: Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>,
): Promise<number> {
  const { db, clock } = context
  const nowMs = clock.now()
  let ended = 0
  for (const { id, droppedAfterHours } of await findLate(db, nowMs)) {
    const reason = droppedAfterHours
      ? `It was not finished within ${droppedAfterHours} hours of its start; the bucket deletes unfinished uploads after that.`
      : 'It was not finished in time.'
    const end = { status: 'expired', reason, from: ['uploading'], provided: isLate(nowMs) } as const
    if (await endUpload(context, id, end)) ended += 1
  }
  return ended + (await retirePartials(db, clock.now()))
}
