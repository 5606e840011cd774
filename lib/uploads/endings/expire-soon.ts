import { capExpiry } from '../ledger/cap-expiry.ts'
import type { UploadContext } from '../upload-context.ts'

/** An upload whose client may not know of it: unless somebody continues it in that time, it expires. */
export function expireSoon(
  { db, clock }: Pick<UploadContext, 'db' | 'clock'>,
  fileId: string,
  withinMs: number,
): Promise<void> {
  return capExpiry(db, fileId, clock.now() + withinMs)
}
