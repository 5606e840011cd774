import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { countBytes, deltas } from '../../workspace/usage/count-bytes.ts'
import { endLanes } from './lane-endings.ts'
import { revoked } from './lease-terms.ts'
import { deleteBytes } from './part-rows.ts'
import { insertNote } from './timeline.ts'

/** How an upload ends without an object. */
export type BadEnd = {
  status: 'failed' | 'expired' | 'canceled'
  /** Shown to the customer. */
  reason: string | null
  /** The statuses from which the upload may end this way. */
  from: readonly ('uploading' | 'transferring')[]
  /**
   * A condition that must still hold when the row is locked, because the upload may have changed since the decision to
   * end it.
   */
  provided?: SQL
  /** It is not known whether the object exists. If it does, it is kept, and the customer is told to look for it. */
  certainty?: 'unknown'
  /** The actual media type of its first bytes. None of its bytes are counted, because none were kept. */
  refusedContent?: string
}

/** By then, any request that is in flight to the bucket now has arrived or never will. */
export const afterLateRequests = (nowMs: number): SQL =>
  sql`${new Date(nowMs + minutes(1)).toISOString()}::timestamptz`

/**
 * True for a destination that has the object even though another destination caused the file to fail. The object is
 * then deleted.
 */
const isStored = sql`d.status = 'transferred'`

/** False if the upload had already ended, or `provided` does not hold. */
export async function recordEnd(
  tx: Db,
  fileId: string,
  { status, reason, from, provided = sql`true`, certainty, refusedContent }: BadEnd,
  nowMs: number,
): Promise<boolean> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const states = sql.join(
    from.map((state) => sql`${state}`),
    sql`, `,
  )
  const ended = await rows<{ lanes: string | null }>(
    tx,
    sql`
    with open as (
      select id, reserved_bytes, counted_bytes, lease_until is not null or lanes is not null as leased from files
      where id = ${fileId}::uuid and status in (${states}) and ${provided} for no key update
    ), ended as (
      update files f set status = ${status}, failure_reason = ${reason}, finished_at = ${now}, sha256_state = null,
        ${counted(refusedContent)}, reserved_bytes = 0, ${revoked}
      from open where f.id = open.id returning f.id, f.lanes, f.concat_parts, f.decision, open.leased, ${deltas(sql`open`)}
    ), ${countBytes(sql`ended`, nowMs)}, stopped as (
      update file_destinations d set status = case when ${isStored} then d.status else 'failed' end,
        certainty = case when ${isStored} then d.certainty else ${certainty ?? null} end,
        reason = case when not ${isStored} and exists (select from file_destinations o where o.file_id = d.file_id and o.position <> d.position)
          then coalesce(d.reason, 'file_ended') end,
        abort_pending = ${isStored} or d.multipart_id is not null or (ended.leased and ${certainty ?? null}::text is null),
        abort_at = case when ended.leased then ${afterLateRequests(nowMs)} else ${now} end
      from ended where d.file_id = ended.id
    ), unjoined as (
      update file_destinations d set abort_pending = true, abort_at = ${afterLateRequests(nowMs)}
      where d.file_id in (select unnest(concat_parts) from ended)
    ), parted as (
      update files p set joined_into = null from (select id, unnest(concat_parts) as part_id from ended
        where decision is distinct from 'rejected') joined
      where p.id = joined.part_id and p.joined_into = joined.id
    ), noted as (${insertNote({ kind: status, detail: { reason, ...(refusedContent && { found: refusedContent }) } }, sql`ended`, nowMs)})
    select lanes::text from ended`,
  )
  const [end] = ended
  if (!end) return false
  // The writers of its lanes may still record parts until their leases are revoked.
  if (end.lanes) await endLanes(tx, { fileId, lanes: end.lanes, status }, nowMs)
  await deleteBytes(tx, fileId)
  return true
}

const counted = (refusedContent: string | undefined): SQL =>
  refusedContent === undefined
    ? sql`counted_bytes = f.offset_bytes`
    : sql`found_type = ${refusedContent}, offset_bytes = 0, crc32 = 0, counted_bytes = 0`

/** Erases the record of an upload without confirmed bytes. Returns false if it has any. */
export async function erase(tx: Db, fileId: string, nowMs: number): Promise<boolean> {
  const erased = await rows(
    tx,
    sql`update files set erased_at = ${new Date(nowMs).toISOString()}::timestamptz
      where id = ${fileId}::uuid and offset_bytes = 0 returning id`,
  )
  return erased.length > 0
}

/** Schedules the cleanup of the bucket. */
export async function clearLater(tx: Db, fileId: string, nowMs: number): Promise<void> {
  await tx.execute(sql`update file_destinations set abort_pending = true,
    abort_at = ${afterLateRequests(nowMs)} where file_id = ${fileId}::uuid`)
}

/**
 * Removes the upload from the counts of its token and its upload link. Partial uploads are not included in these
 * counts.
 */
export async function giveBackCount(tx: Db, fileId: string): Promise<void> {
  await tx.execute(sql`with given_back as (
      update tokens t set files_created = t.files_created - 1 from files f
      where f.id = ${fileId}::uuid and t.id = f.token_id and f.concat is null returning t.link_id, f.length_bytes
    )
    update upload_links l set files_created = l.files_created - 1, bytes_created = l.bytes_created - g.length_bytes
    from given_back g where l.id = g.link_id`)
}

/**
 * Makes the upload expire earlier, unless a second request has taken its lease. The next bytes that arrive restore its
 * full expiry time.
 */
export async function capExpiry(db: Db, fileId: string, untilMs: number): Promise<void> {
  await db.execute(sql`update files
    set expires_at = least(expires_at, ${new Date(untilMs).toISOString()}::timestamptz)
    where id = ${fileId}::uuid and status = 'uploading' and lease_fence = 1 and lease_until is null`)
}

/** Retires a finished upload. The object of a partial upload that was not joined is deleted. */
export async function retire(db: Db, fileId: string, nowMs: number): Promise<void> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  await db.execute(sql`
    with finished as (
      select id, concat = 'partial' and joined_into is null as spare from files
      where id = ${fileId}::uuid and status in ('transferred', 'partially_transferred') for update
    ), retired as (
      update files f set retired_at = ${now}, joined_into = null from finished where f.id = finished.id
    )
    update file_destinations d set abort_pending = true, abort_at = ${afterLateRequests(nowMs)}
    from finished where d.file_id = finished.id and finished.spare`)
}
