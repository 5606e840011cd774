import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'

/**
 * A client that asks for the offset was interrupted, even if none of its requests was cut: it was paused, offline or
 * reloaded between two of them. Its next request counts as a resume.
 */
export async function markInterrupted(db: Db, fileId: string, nowMs: number): Promise<void> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  await rows(
    db,
    sql`
    with broken as (
      update files set interrupted = true
      where id = ${fileId}::uuid and status = 'uploading' and offset_bytes > 0 and not interrupted
        and lease_until is null
      returning id, offset_bytes
    )
    insert into file_timeline (id, file_id, kind, detail, at)
    select ${uuidv7(nowMs)}::uuid, id, 'offset_asked', json_build_object('offsetBytes', offset_bytes), ${now}
    from broken`,
  )
}
