import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { countBytes, counting, deltas } from '../../workspace/usage/count-bytes.ts'
import type { Fenced } from './lease-terms.ts'

/**
 * The object is there, whole, though the ledger may know only a part of its bytes: the database is older than it. False if
 * the lease was lost, or for a part of a partial upload: what joins it needs its checksum, which nobody knows any more.
 */
export async function markFound(
  db: Db,
  { fileId, fence }: Fenced,
  { etag }: { etag: string | null },
  nowMs: number,
): Promise<boolean> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const found = await rows(
    db,
    sql`
    with open as (
      select id, status, reserved_bytes, counted_bytes from files
      where id = ${fileId}::uuid and lease_fence = ${fence}::int and lease_until is not null
        and (status = 'transferring' or status = 'uploading' and concat is distinct from 'partial')
      for update
    ), done as (
      update files f set status = 'transferred', offset_bytes = f.length_bytes, finished_at = ${now},
        lease_holder = null, lease_until = null, interrupted = false,
        ${counting(sql`open`, sql`f.length_bytes`, nowMs)}
      from open where f.id = open.id
      returning f.id, case open.status when 'uploading' then 'found' else 'confirmed' end as certainty, ${deltas(sql`open`)}
    ), ${countBytes(sql`done`, nowMs)}, arrived as (
      update file_destinations d set status = 'transferred', etag = ${etag}, certainty = done.certainty
      from done where d.file_id = done.id
    ), unparted as (delete from file_parts p using done where p.file_id = done.id
    ), untailed as (delete from upload_tails t using done where t.file_id = done.id
    ), noted as (
      insert into file_timeline (id, file_id, kind, detail, at)
      select ${uuidv7(nowMs)}::uuid, id, 'completed', jsonb_build_object('certainty', certainty), ${now} from done
    )
    select id from done`,
  )
  return found.length > 0
}
