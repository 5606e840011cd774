import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'

/**
 * A client that asks for the offset had a break, even if all of its requests came whole: it was paused, offline or
 * loaded anew between two of them. The next request is a resume then, as it is after one that was cut.
 */
export async function noteBreak(db: Db, fileId: string, nowMs: number): Promise<void> {
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
