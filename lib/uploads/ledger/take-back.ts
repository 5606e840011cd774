import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'

/** Erases the record of a creation. False if some of its bytes were counted. */
export async function erase(tx: Db, fileId: string, nowMs: number): Promise<boolean> {
  const erased = await rows(
    tx,
    sql`update files set erased_at = ${new Date(nowMs).toISOString()}::timestamptz
      where id = ${fileId}::uuid and offset_bytes = 0 returning id`,
  )
  return erased.length > 0
}

/** Has the bucket cleared in a minute: a request on its way there either arrives by then or never. */
export async function clearLater(tx: Db, fileId: string, nowMs: number): Promise<void> {
  await tx.execute(sql`update file_destinations set abort_pending = true,
    abort_at = ${new Date(nowMs + minutes(1)).toISOString()}::timestamptz where file_id = ${fileId}::uuid`)
}

/** Removes the upload from its token's count of files. Partial uploads are not in that count. */
export async function giveBackCount(tx: Db, fileId: string): Promise<void> {
  await tx.execute(sql`update tokens t set files_created = t.files_created - 1 from files f
    where f.id = ${fileId}::uuid and t.id = f.token_id and f.concat is null`)
}
