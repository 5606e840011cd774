import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Fenced, heldBy, lostLease } from './lease-terms.ts'

/** Records the multipart upload, so that later writers continue it. */
export async function recordMultipart(db: Db, lease: Fenced, multipartId: string): Promise<void> {
  const recorded = await rows(
    db,
    sql`
    with writer as (
      select id from files
      where id = ${lease.fileId}::uuid and ${heldBy(lease)}
        and status in ('uploading', 'transferring')
      for update
    )
    update file_destinations d set multipart_id = ${multipartId} from writer where d.file_id = writer.id
    returning d.file_id`,
  )
  if (recorded.length === 0) throw lostLease()
}
