import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { lostLease } from './advance.ts'
import type { Fenced } from './lease-terms.ts'

/** The multipart upload exists in the bucket: the next writer continues it. */
export async function recordMultipart(db: Db, { fileId, fence }: Fenced, multipartId: string): Promise<void> {
  const recorded = await rows(
    db,
    sql`
    with writer as (
      select id from files
      where id = ${fileId}::uuid and lease_fence = ${fence}::int and lease_until is not null
        and status in ('uploading', 'transferring')
      for update
    )
    update file_destinations d set multipart_id = ${multipartId} from writer where d.file_id = writer.id
    returning d.file_id`,
  )
  if (recorded.length === 0) throw lostLease()
}
