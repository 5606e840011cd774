import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { countBytes, deltas } from '../../workspace/usage/count-bytes.ts'
import { revoked } from './lease-terms.ts'
import { insertNote } from './timeline.ts'

/** How an upload ends without an object, and what is undone when it does. */
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
  /** The media type that its first bytes have, instead of the declared one. None of its bytes count, as none was kept. */
  refusedContent?: string
}

/** A request that was on its way to the bucket when the upload ended either arrives within this time or never. */
const ARRIVES_WITHIN_SECONDS = 60

/** A destination has the object, and another one is why the file has failed: its object is deleted. */
const isStored = sql`(d.position is not null and d.status = 'transferred')`

/** False if the upload had ended already, or `provided` does not hold. */
export async function recordEnd(
  db: Db,
  fileId: string,
  { status, reason, from, provided = sql`true`, certainty, refusedContent }: BadEnd,
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
        ${counted(refusedContent)}, reserved_bytes = 0, ${revoked}
      from open where f.id = open.id returning f.id, f.concat_parts, f.decision, open.leased, ${deltas(sql`open`)}
    ), ${countBytes(sql`ended`, nowMs)}, stopped as (
      update file_destinations d set status = case when ${isStored} then d.status else 'failed' end,
        certainty = case when ${isStored} then d.certainty else ${certainty ?? null} end,
        reason = case when d.position is not null and not ${isStored} then coalesce(d.reason, 'file_ended') end,
        abort_pending = ${isStored} or d.multipart_id is not null or (ended.leased and ${certainty ?? null}::text is null),
        abort_at = ${now} + ended.leased::int * ${ARRIVES_WITHIN_SECONDS}::int * interval '1 second'
      from ended where d.file_id = ended.id
    ), unjoined as (
      update file_destinations d set abort_pending = true, abort_at = ${now}
      where d.file_id in (select unnest(concat_parts) from ended)
    ), parted as (
      update files p set joined_into = null from (select id, unnest(concat_parts) as part_id from ended
        where decision is distinct from 'rejected') joined
      where p.id = joined.part_id and p.joined_into = joined.id
    ), untailed as (delete from upload_tails t using ended where t.file_id = ended.id
    ), unparted as (delete from file_parts p using ended where p.file_id = ended.id
    ), noted as (${insertNote({ kind: status, detail: { reason, ...(refusedContent && { found: refusedContent }) } }, sql`ended`, nowMs)})
    select id from ended`,
  )
  return ended.length > 0
}

const counted = (refusedContent: string | undefined): SQL =>
  refusedContent === undefined
    ? sql`counted_bytes = f.offset_bytes`
    : sql`found_type = ${refusedContent}, offset_bytes = 0, crc32 = 0, counted_bytes = 0`

/** Erases the record of a creation. False if some of its bytes were counted. */
export async function erase(tx: Db, fileId: string, nowMs: number): Promise<boolean> {
  const erased = await rows(
    tx,
    sql`update files set erased_at = ${new Date(nowMs).toISOString()}::timestamptz
      where id = ${fileId}::uuid and offset_bytes = 0 returning id`,
  )
  return erased.length > 0
}

/** Has the bucket cleared in a minute: a request on its way there either arrives by then or never. */
export async function clearLater(tx: Db, fileId: string, nowMs: number): Promise<void> {
  await tx.execute(sql`update file_destinations set abort_pending = true,
    abort_at = ${new Date(nowMs + minutes(1)).toISOString()}::timestamptz where file_id = ${fileId}::uuid`)
}

/** Removes the upload from its token's count of files. Partial uploads are not in that count. */
export async function giveBackCount(tx: Db, fileId: string): Promise<void> {
  await tx.execute(sql`update tokens t set files_created = t.files_created - 1 from files f
    where f.id = ${fileId}::uuid and t.id = f.token_id and f.concat is null`)
}

/**
 * Lets the upload expire earlier, if no request has written to it since the first. The next bytes restore its full
 * time.
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
    update file_destinations d set abort_pending = true, abort_at = ${now}
    from finished where d.file_id = finished.id and finished.spare`)
}
