import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { countBytes, deltas } from '../../workspace/usage/count-bytes.ts'

export type BadEnd = {
  status: 'failed' | 'expired' | 'canceled'
  /** Shown to the customer. */
  reason: string | null
  /** The statuses from which the upload may end this way. */
  from: readonly ('uploading' | 'transferring')[]
  /** A condition that must still hold when the row is locked: things may have changed since the decision to end it. */
  provided?: SQL
  /** It is not known whether the object exists. If it does, it stays: the customer is told to look for it. */
  certainty?: 'unknown'
}

/** A request that was on its way to the bucket when the upload ended either arrives within this time or never. */
const ARRIVES_WITHIN_SECONDS = 60

/** False if the upload had ended already, or `provided` does not hold. */
export async function recordEnd(
  db: Db,
  fileId: string,
  { status, reason, from, provided = sql`true`, certainty }: BadEnd,
  nowMs: number,
): Promise<boolean> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const states = sql.join(
    from.map((state) => sql`${state}`),
    sql`, `,
  )
  const ended = await rows(
    db,
    sql`
    with open as (
      select id, reserved_bytes, counted_bytes, lease_until is not null as leased from files
      where id = ${fileId}::uuid and status in (${states}) and ${provided} for update
    ), ended as (
      update files f set status = ${status}, failure_reason = ${reason}, finished_at = ${now},
        counted_bytes = f.offset_bytes, reserved_bytes = 0, lease_holder = null, lease_until = null, lease_fence = f.lease_fence + 1
      from open where f.id = open.id returning f.id, f.concat_parts, open.leased, ${deltas(sql`open`)}
    ), ${countBytes(sql`ended`, nowMs)}, stopped as (
      update file_destinations d set status = 'failed', certainty = ${certainty ?? null},
        abort_pending = d.multipart_id is not null or (ended.leased and ${certainty ?? null}::text is null),
        abort_at = ${now} + ended.leased::int * ${ARRIVES_WITHIN_SECONDS}::int * interval '1 second'
      from ended where d.file_id = ended.id
    ), unjoined as (
      update file_destinations d set abort_pending = true, abort_at = ${now}
      where d.file_id in (select unnest(concat_parts) from ended)
    ), parted as (
      update files p set joined_into = null from (select id, unnest(concat_parts) as part_id from ended) joined
      where p.id = joined.part_id and p.joined_into = joined.id
    ), untailed as (delete from upload_tails t using ended where t.file_id = ended.id
    ), unparted as (delete from file_parts p using ended where p.file_id = ended.id
    ), noted as (
      insert into file_timeline (id, file_id, kind, detail, at)
      select ${uuidv7(nowMs)}::uuid, id, ${status}, ${JSON.stringify({ reason })}::jsonb, ${now} from ended
    )
    select id from ended`,
  )
  return ended.length > 0
}
