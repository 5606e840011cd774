import { sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'

/** Retires a finished upload. The object of a partial upload that was not joined is deleted. */
export async function retire(db: Db, fileId: string, nowMs: number): Promise<void> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  await db.execute(sql`
    with finished as (
      select id, concat = 'partial' and joined_into is null as spare from files
      where id = ${fileId}::uuid and status = 'transferred' for update
    ), retired as (
      update files f set retired_at = ${now}, joined_into = null from finished where f.id = finished.id
    )
    update file_destinations d set abort_pending = true, abort_at = ${now}
    from finished where d.file_id = finished.id and finished.spare`)
}
