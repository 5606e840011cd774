import { currentOffset, markInterrupted } from '../ledger/offsets.ts'
import type { UploadRow } from '../ledger/upload-rows.ts'
import type { UploadContext } from '../upload-context.ts'

/** The current offset and status, for a writer that has lost its lease. */
export function readProgress(
  { db }: Pick<UploadContext, 'db'>,
  fileId: string,
): ReturnType<typeof currentOffset> {
  return currentOffset(db, fileId)
}

/** A client has asked for the offset of an unfinished upload, so it was interrupted: see `markInterrupted`. */
export async function noteOffsetRequest({ db, clock }: UploadContext, upload: UploadRow): Promise<void> {
  const { id, status, offsetBytes, interrupted } = upload
  if (status === 'uploading' && offsetBytes > 0 && !interrupted) await markInterrupted(db, id, clock.now())
}
