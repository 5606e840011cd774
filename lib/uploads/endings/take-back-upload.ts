import type { Db } from '../../platform/db/database.ts'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import { countRefusedCreation } from '../../workspace/tokens/refused-creations.ts'
import { bucketFault } from '../bucket-port.ts'
import { clearLater, erase, giveBackCount } from '../ledger/take-back.ts'
import type { OpenUpload } from '../opening/open-upload.ts'
import type { UploadContext } from '../upload-context.ts'
import { endUpload } from './end-upload.ts'

/**
 * Undoes a creation whose first bytes were refused. Its client never learns the address, so the upload ends at once,
 * returns its reservation, and does not count as one of the files that the token may create. It leaves no record and
 * sends no event, unless some of its bytes were counted or the bucket may have an object that nothing but the record
 * refers to. If the refusal was the client's fault, the creation counts against a separate limit.
 */
export async function takeBackUpload(
  context: UploadContext,
  { fileId, wasPut }: Pick<OpenUpload, 'fileId' | 'wasPut'>,
  refused: { tokenId: string; error: unknown },
): Promise<void> {
  const end = { status: 'canceled', reason: 'Its creation was refused.', from: ['uploading'] } as const
  const mayBeThere = wasPut && !wasRejected(refused.error)
  const eraseOrEmit = async (tx: Db) => {
    if (mayBeThere || !(await erase(tx, fileId, context.clock.now()))) await context.emitEvents(tx, fileId)
  }
  const takeBack = context.db.transaction(async (tx) => {
    if (!(await endUpload({ ...context, emitEvents: eraseOrEmit, db: tx }, fileId, end))) return
    if (mayBeThere) await clearLater(tx, fileId, context.clock.now())
    await giveBackCount(tx, fileId)
  })
  // If the database cannot be reached, the upload stays until it expires.
  const warn = (error: unknown) =>
    context.log.warn({ err: error, fileId }, 'could not roll back a refused upload creation')
  await takeBack.catch(warn)
  if (isClientsFault(refused.error)) await countRefusedCreation(context, refused.tokenId).catch(warn)
}

/** The bucket refused the only attempt. After several attempts, one whose response was lost may have succeeded. */
function wasRejected(error: unknown): boolean {
  const cause = isSluiceError(error) ? error.cause : error
  const kind = bucketFault(cause)
  return (kind === 'refused' || kind === 'impossible') && (cause as { attempts?: number }).attempts === 1
}

function isClientsFault(error: unknown): boolean {
  return isSluiceError(error) && error.status < 500 && error.code !== 'upload_locked'
}
