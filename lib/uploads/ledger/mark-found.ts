import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { countBytes, counting, deltas } from '../../workspace/usage/count-bytes.ts'
import { type Fenced, heldBy } from './lease-terms.ts'

/**
 * The object exists and is complete, even if the ledger knows only some of its bytes: the database was restored from a
 * backup made before. False if the lease was lost, or for an unfinished partial upload: its checksum, which joining
 * needs, is lost.
 */
export async function markFound(
  db: Db,
  lease: Fenced,
  { etag }: { etag: string | null },
  nowMs: number,
): Promise<boolean> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const found = await rows(
    db,
    sql`
    with open as (
      select id, status, reserved_bytes, counted_bytes from files
      where id = ${lease.fileId}::uuid and ${heldBy(lease)}
        and (status = 'transferring' or status = 'uploading' and concat is distinct from 'partial')
      for update
    ), done as (
      update files f set status = 'transferred', offset_bytes = f.length_bytes, finished_at = ${now},
        lease_holder = null, lease_until = null, interrupted = false,
        ${counting(sql`open`, sql`f.length_bytes`, nowMs)}
      from open where f.id = open.id
      returning f.id, case open.status when 'uploading' then 'found' else 'confirmed' end as certainty, ${deltas(sql`open`)}
    ), ${countBytes(sql`done`, nowMs)}, stored as (
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
