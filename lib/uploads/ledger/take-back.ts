import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'

/** The record of a creation goes. False: some of its bytes were counted. */
export async function erase(tx: Db, fileId: string, nowMs: number): Promise<boolean> {
  const erased = await rows(
    tx,
    sql`update files set erased_at = ${new Date(nowMs).toISOString()}::timestamptz
      where id = ${fileId}::uuid and offset_bytes = 0 returning id`,
  )
  return erased.length > 0
}

/** By then what was on its way to the bucket has arrived, or never will. */
export async function clearLater(tx: Db, fileId: string, nowMs: number): Promise<void> {
  await tx.execute(sql`update file_destinations set abort_pending = true,
    abort_at = ${new Date(nowMs + minutes(1)).toISOString()}::timestamptz where file_id = ${fileId}::uuid`)
}

/** It is none of the files that its token may create. A partial upload never was. */
export async function giveBackCount(tx: Db, fileId: string): Promise<void> {
  await tx.execute(sql`update tokens t set files_created = t.files_created - 1 from files f
    where f.id = ${fileId}::uuid and t.id = f.token_id and f.concat is null`)
}
