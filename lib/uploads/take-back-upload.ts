import { sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { isSluiceError } from '../platform/kernel/errors.ts'
import { countRefusedCreation } from '../workspace/tokens/refused-creations.ts'
import { bucketFault } from './bucket-port.ts'
import { endUpload } from './end-upload.ts'
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
    await tx.execute(sql`update tokens t set files_created = t.files_created - 1 from files f
      where f.id = ${fileId}::uuid and t.id = f.token_id and f.concat is null`)
  })
  // Without a database it stays, and expires.
  const warn = (error: unknown) => context.log.warn({ err: error, fileId }, 'a creation was not taken back')
  await takeBack.catch(warn)
  if (isClientsFault(refused.error)) await countRefusedCreation(context, refused.tokenId).catch(warn)
}

/** False: some of its bytes were counted. */
async function erase(tx: Db, fileId: string, nowMs: number): Promise<boolean> {
  const erased = await rows(
    tx,
    sql`update files set erased_at = ${new Date(nowMs).toISOString()}::timestamptz
      where id = ${fileId}::uuid and offset_bytes = 0 returning id`,
  )
  return erased.length > 0
}

/** By then what was on its way to the bucket has arrived, or never will. */
async function clearLater(tx: Db, fileId: string, nowMs: number): Promise<void> {
  await tx.execute(sql`update file_destinations set abort_pending = true,
    abort_at = ${new Date(nowMs + minutes(1)).toISOString()}::timestamptz where file_id = ${fileId}::uuid`)
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
