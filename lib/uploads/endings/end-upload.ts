import { type BadEnd, recordEnd } from '../ledger/record-end.ts'
import type { UploadContext } from '../upload-context.ts'

/**
 * Ends an upload that will not become an object. One transaction changes its status, writes its event, deletes its tail
 * and returns its reservation. A request that is writing it loses its lease. False if it had ended already.
 */
export async function endUpload(
  context: Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>,
  fileId: string,
  end: BadEnd,
): Promise<boolean> {
  const ended = await context.db.transaction(async (tx) => {
    const done = await recordEnd(tx, fileId, end, context.clock.now())
    if (done) await context.emitEvents(tx, fileId)
    return done
  })
  if (ended) context.metrics.uploadsFinished.inc({ status: end.status })
  return ended
}
