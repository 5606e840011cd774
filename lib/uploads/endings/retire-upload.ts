import { retire } from '../ledger/retire.ts'
import type { UploadContext } from '../upload-context.ts'

/**
 * The address of a finished upload stops answering. The object and the record stay: they were delivered. The object of a
 * partial upload that is part of no file was not delivered: it is cleared away.
 */
export function retireUpload(
  { db, clock }: Pick<UploadContext, 'db' | 'clock'>,
  fileId: string,
): Promise<void> {
  return retire(db, fileId, clock.now())
}
