import { currentOffset } from './ledger/current-offset.ts'
import type { UploadContext } from './upload-context.ts'

/** Where an upload stands now, for a writer that lost it. */
export function readProgress(
  { db }: Pick<UploadContext, 'db'>,
  fileId: string,
): ReturnType<typeof currentOffset> {
  return currentOffset(db, fileId)
}
