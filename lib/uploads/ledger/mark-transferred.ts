import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { type Fenced, heldBy } from './lease-terms.ts'

export type Delivered = { etag: string | null; certainty: 'answered' | 'confirmed' | 'inferred' }

/**
 * The object exists: deletes the parts and tails it was made of, and releases the lease. False if the lease was lost.
 */
export async function markTransferred(
  db: Db,
  lease: Fenced,
  { etag, certainty }: Delivered,
  nowMs: number,
): Promise<boolean> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const marked = await rows(
    db,
    sql`
    with done as (
      update files set status = 'transferred', finished_at = ${now}, lease_holder = null, lease_until = null
      where id = ${lease.fileId}::uuid and ${heldBy(lease)}
        and status = 'transferring'
      returning id
    ), stored as (
      update file_destinations d set status = 'transferred', etag = ${etag}, certainty = ${certainty}
      from done where d.file_id = done.id
    ), unparted as (delete from file_parts p using done where p.file_id = done.id
    ), untailed as (delete from upload_tails t using done where t.file_id = done.id
    ), noted as (
      insert into file_timeline (id, file_id, kind, detail, at)
      select ${uuidv7(nowMs)}::uuid, id, 'completed', ${JSON.stringify({ certainty })}::jsonb, ${now} from done
    )
    select id from done`,
  )
  return marked.length > 0
}
