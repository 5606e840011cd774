import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Fenced, heldBy, lostLease } from './lease-terms.ts'

/** Records that the tail of a `transferring` file is now a part. Its bytes were counted when they arrived. */
export async function recordLastPart(
  db: Db,
  lease: Fenced,
  part: { number: number; offsetBytes: number; sizeBytes: number; etag: string; crc32: number },
): Promise<void> {
  const recorded = await rows(
    db,
    sql`
    with writer as (
      select id from files
      where id = ${lease.fileId}::uuid and ${heldBy(lease)}
        and status = 'transferring'
      for update
    ), part as (
      insert into file_parts (file_id, number, offset_bytes, size_bytes, etag, crc32)
      select id, ${part.number}::int, ${part.offsetBytes}::bigint, ${part.sizeBytes}::bigint, ${part.etag},
        ${part.crc32}::bigint from writer
    ), untailed as (delete from upload_tails t using writer where t.file_id = writer.id),
    unsealed as (update files f set sealed_fence = null from writer where f.id = writer.id)
    select id from writer`,
  )
  if (recorded.length === 0) throw lostLease()
}
