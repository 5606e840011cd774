import { retire } from '../ledger/retire.ts'
import type { UploadContext } from '../upload-context.ts'

/**
 * Makes the address of a finished upload invalid. The object and the record stay, since they were delivered. Only the
 * object of a partial upload that was not joined is deleted.
 */
export function retireUpload(
  { db, clock }: Pick<UploadContext, 'db' | 'clock'>,
  fileId: string,
): Promise<void> {
  return retire(db, fileId, clock.now())
}
