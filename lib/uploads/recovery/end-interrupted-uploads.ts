import { failInterrupted } from '../endings/fail-interrupted.ts'
import { findInterrupted } from '../ledger/interrupted-uploads.ts'
import type { UploadContext } from '../upload-context.ts'

/** Fails uploads of clients that cannot resume, whose request ended when its node died. */
export async function endInterruptedUploads(
  context: Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>,
): Promise<number> {
  const found = await findInterrupted(context.db)
  let ended = 0
  for (const fileId of found) if (await failInterrupted(context, fileId)) ended += 1
  return ended
}
