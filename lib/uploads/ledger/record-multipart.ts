import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../db/database.ts'
import { lostLease } from './advance.ts'
import type { Fenced } from './lease-terms.ts'

/** The multipart upload exists in the bucket: whoever writes next goes on with it. */
export async function recordMultipart(db: Db, { fileId, fence }: Fenced, multipartId: string): Promise<void> {
  const recorded = await rows(
    db,
    sql`update file_destinations d set multipart_id = ${multipartId} from files f
      where d.file_id = ${fileId}::uuid and f.id = d.file_id and f.lease_fence = ${fence}::int
        and f.lease_until is not null and f.status in ('uploading', 'transferring')
      returning d.file_id`,
  )
  if (recorded.length === 0) throw lostLease()
}
