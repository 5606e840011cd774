import { currentOffset } from '../ledger/current-offset.ts'
import type { UploadContext } from '../upload-context.ts'

/** The current offset and status, for a writer that has lost its lease. */
export function readProgress(
  { db }: Pick<UploadContext, 'db'>,
  fileId: string,
): ReturnType<typeof currentOffset> {
  return currentOffset(db, fileId)
}
