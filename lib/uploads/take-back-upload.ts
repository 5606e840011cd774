import type { Db } from '../platform/db/database.ts'
import { isSluiceError } from '../platform/kernel/errors.ts'
import { countRefusedCreation } from '../workspace/tokens/refused-creations.ts'
import { bucketFault } from './bucket-port.ts'
import { endUpload } from './end-upload.ts'
import { clearLater, erase, giveBackCount } from './ledger/take-back.ts'
import type { OpenUpload } from './open-upload.ts'
import type { UploadContext } from './upload-context.ts'

/**
 * A creation whose first bytes were refused: its client never learns the address, so it ends at once, gives its
 * reservation back, and is none of the files that the token may create. It leaves no record, and nobody is told, unless
 * bytes of it were counted, or an object may be in the bucket that only the record tells of. One that its client is to
 * blame for counts against a limit of its own.
 */
export async function takeBackUpload(
  context: UploadContext,
  { fileId, wasPut }: Pick<OpenUpload, 'fileId' | 'wasPut'>,
  refused: { tokenId: string; error: unknown },
): Promise<void> {
  const end = { status: 'canceled', reason: 'Its creation was refused.', from: ['uploading'] } as const
  const mayBeThere = wasPut && !wasRejected(refused.error)
  const eraseOrAnnounce = async (tx: Db) => {
    if (mayBeThere || !(await erase(tx, fileId, context.clock.now()))) await context.announce(tx, fileId)
  }
  const takeBack = context.db.transaction(async (tx) => {
    if (!(await endUpload({ ...context, announce: eraseOrAnnounce, db: tx }, fileId, end))) return
    if (mayBeThere) await clearLater(tx, fileId, context.clock.now())
    await giveBackCount(tx, fileId)
  })
  // Without a database it stays, and expires.
  const warn = (error: unknown) => context.log.warn({ err: error, fileId }, 'a creation was not taken back')
  await takeBack.catch(warn)
  if (isClientsFault(refused.error)) await countRefusedCreation(context, refused.tokenId).catch(warn)
}

/** The bucket has answered that it does not take the object, and was asked once: an answer that was lost may differ. */
function wasRejected(error: unknown): boolean {
  const cause = isSluiceError(error) ? error.cause : error
  const kind = bucketFault(cause)
  return (kind === 'refused' || kind === 'impossible') && (cause as { attempts?: number }).attempts === 1
}

function isClientsFault(error: unknown): boolean {
  return isSluiceError(error) && error.status < 500 && error.code !== 'upload_locked'
}
