import { sql } from 'drizzle-orm'
import { isSluiceError } from '../kernel/errors.ts'
import { endUpload } from './end-upload.ts'
import type { OpenUpload } from './open-upload.ts'
import type { UploadContext } from './upload-context.ts'

/**
 * A creation whose first bytes were refused: its client never learns the address, so it ends at once, gives its
 * reservation back, and is none of the files that the token may create.
 */
export async function takeBackUpload(
  context: UploadContext,
  { fileId }: Pick<OpenUpload, 'fileId'>,
  refused: unknown,
): Promise<void> {
  const words = isSluiceError(refused) ? ` ${refused.message}` : ''
  const end = {
    status: 'canceled',
    reason: `Its creation was refused.${words}`,
    from: ['uploading'],
  } as const
  const takeBack = context.db.transaction(async (tx) => {
    if (!(await endUpload({ ...context, db: tx }, fileId, end))) return
    await tx.execute(sql`update tokens t set files_created = t.files_created - 1 from files f
      where f.id = ${fileId}::uuid and t.id = f.token_id and f.concat is null`)
  })
  // Without a database it stays, and expires.
  await takeBack.catch((error) => context.log.warn({ err: error, fileId }, 'a creation was not taken back'))
}
