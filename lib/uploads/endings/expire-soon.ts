import { capExpiry } from '../ledger/cap-expiry.ts'
import type { UploadContext } from '../upload-context.ts'

/** For an upload whose client may not have learned its address: it expires unless it is continued within `withinMs`. */
export function expireSoon(
  { db, clock }: Pick<UploadContext, 'db' | 'clock'>,
  fileId: string,
  withinMs: number,
): Promise<void> {
  return capExpiry(db, fileId, clock.now() + withinMs)
}
