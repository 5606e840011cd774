import { type SQL, sql } from 'drizzle-orm'
import { isSuspended } from '../../identity/suspension.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { currentRequest } from '../../platform/kernel/request-context.ts'
import { countBytes, counting, deltas } from '../../workspace/usage/count-bytes.ts'
import type { BucketRefusal } from '../bucket-port.ts'
import type { Bound } from '../rules/part-numbers.ts'
import { countResume, expiryOf, fileOfLane, resumesOfFile } from './lanes.ts'
import {
  type Claim,
  type Fenced,
  heldBy,
  isFree,
  isLeased,
  lastHeldBy,
  lostLease,
  released,
  taken,
  until,
  wasInterrupted,
} from './lease-terms.ts'
import { hashStateOf } from './offsets.ts'
import { bigints, boundColumns, boundOf } from './part-rows.ts'
import { noteRefusal } from './timeline.ts'

/**
 * The life of a lease in its file's row: it is taken, renewed, released, or left to expire. `lease-terms.ts`
 * lists the other statements that take or end one.
 */

/** The state the new writer finds in the ledger. */
export type Taken = {
  fence: number
  offsetBytes: number
  lengthBytes: number | null
  lengthCameLast: boolean | null
  crc32: number
  /** Another request may have declared the checksum after this request was admitted. */
  declaredCrc32: number | null
  declaredSha256: string | null
  /** Null if the SHA-256 is not computed, or not known for all confirmed bytes. */
  sha256State: string | null
  tailBytes: number
  partBytes: number | null
  /** The part numbers that earlier writers left bound. */
  bound: Bound
  /** The row matched the plan, so the planned parts are bound. */
  planned: boolean
  /** For each destination, in order: its multipart upload, and whether it still gets bytes. */
  held: readonly { multipartId: string | null; isOpen: boolean }[]
  resumed: boolean
  /** The confirmed bytes that no earlier resume had saved; 0 unless `resumed`. */
  savedBytes: number
  /** The previous lease expired instead of being released: its holder died. */
  leaseLapsed: boolean
  /** The reserved quota was returned, because no bytes had arrived for an hour. */
  reservationLapsed: boolean
  expirySeconds: number
  expiresAtMs: number
  expiresByMs: number
}

/** The bindings that the writer requests along with the lease, and the state of the upload that they assume. */
export type LeasePlan = { fence: number; offsetBytes: number; bound: Bound; boundEnds: readonly number[] }

/** How many of the latest tokens that continued the upload are remembered. */
const MAX_TOKENS = 100

/**
 * Takes the lease if nobody holds it, and binds the planned parts to their numbers if the upload still matches the
 * plan. Undefined if the lease is held, or if the file accepts no more bytes. If the previous lease expired without
 * being released, its holder died: taking over from it counts as a resume. A request that continues at any other than
 * the confirmed offset will be refused, so it does not count. What interrupts a client may cut off several lanes, which
 * counts once: see `countResume`.
 */
export async function takeLease(
  { db, clock }: { db: Db; clock: Clock },
  claim: Claim,
  file: {
    rowId: string
    isLane?: boolean
    tokenId: string | null
    plan: LeasePlan | undefined
    fromBytes?: number | undefined
  },
): Promise<Taken | undefined> {
  const { rowId, isLane, tokenId, plan, fromBytes = null } = file
  const request = currentRequest()
  const [row] = await rows<Taken & { unchanged: boolean }>(
    db,
    sql`
    with seen as (
      select lease_fence, lease_until from files where id = ${rowId}::uuid
    ), free as (
      select f.id, ${wasInterrupted} as interrupted, f.saved_bytes,
        ${wasInterrupted} and offset_bytes = coalesce(${fromBytes}::bigint, offset_bytes) as continued,
        f.resume_count as seen_resumes, ${isLane ? resumesOfFile : sql`f.resume_count`} as resumes,
        lease_until is not null as lease_lapsed, ${fits(plan)} as planned
      from files f where id = ${rowId}::uuid and status = 'uploading' and ${isFree}
      for update
    ), taken as (
      update files f set ${taken(claim)},
        bound_ends = case when free.planned then ${bigints(plan?.boundEnds ?? [])} else f.bound_ends end,
        interrupted = free.interrupted and not free.continued,
        last_request_id = ${request?.id ?? null}, last_traceparent = ${request?.traceparent ?? null},
        resume_count = free.resumes + (free.continued and free.seen_resumes >= free.resumes)::int,
        saved_bytes = case when free.continued then f.offset_bytes else f.saved_bytes end,
        continued_by = ${continuedBy(tokenId)}
      from free where f.id = free.id
      returning f.*, free.planned, free.lease_lapsed, f.resume_count > free.resumes as resumed,
        greatest(f.saved_bytes - free.saved_bytes, 0) as newly_saved
    ), unstaged as (${deleteStaged(sql`taken`)})
    ${isLane ? sql`, ${countResume(clock.now())}` : sql``}
    select t.lease_fence as "fence", t.offset_bytes as "offsetBytes", t.length_bytes as "lengthBytes", t.length_came_last as "lengthCameLast",
      t.crc32,
      t.declared_crc32 as "declaredCrc32", t.declared_sha256 as "declaredSha256", ${hashStateOf(sql`t`)} as "sha256State", t.part_bytes as "partBytes", t.planned, t.resumed, t.newly_saved as "savedBytes", t.lease_lapsed as "leaseLapsed",
      coalesce(t.reserved_bytes = 0 and t.offset_bytes < t.length_bytes, false) as "reservationLapsed",
      ${boundOf(sql`t`)} as bound,
      t.expiry_seconds as "expirySeconds", floor(extract(epoch from ${expiryOf(sql`t`)}) * 1000)::bigint as "expiresAtMs",
      floor(extract(epoch from t.expires_by) * 1000)::bigint as "expiresByMs",
      t.offset_bytes - t.recorded_bytes as "tailBytes", ${heldFor(sql`t`)} as held,
      seen.lease_until is null and seen.lease_fence = t.lease_fence - 1 as unchanged
    from taken t, seen`,
  )
  if (!row) return undefined
  const { unchanged, ...found } = row
  return unchanged ? found : { ...found, held: await inherit(db, { rowId, ...claim }) }
}

/**
 * Reads what earlier writers left at each destination, and deletes what they staged, once more: the statement that
 * takes the lease does not see what the previous writer commits while it waits for the file's row.
 */
async function inherit(db: Db, { rowId, claim }: Pick<Fenced, 'rowId' | 'claim'>): Promise<Taken['held']> {
  const [row] = await rows<Pick<Taken, 'held'>>(
    db,
    sql`
    with writer as (
      select id, lane_of, offset_bytes from files where id = ${rowId}::uuid and ${heldBy({ claim })}
    ), unstaged as (${deleteStaged(sql`writer`)})
    select ${heldFor(sql`writer`)} as held from writer`,
  )
  if (!row) throw lostLease()
  return row.held
}

const deleteStaged = (file: SQL): SQL => sql`
  delete from upload_tails tail using ${file} f where tail.file_id = f.id and tail.offset_bytes >= f.offset_bytes`

const heldFor = (file: SQL): SQL => sql`
  (select json_agg(json_build_object('multipartId', d.multipart_id,
    'isOpen', d.status in ('pending', 'transferring')) order by d.position)
  from file_destinations d where d.file_id = ${fileOfLane(file)})`

/** The latest tokens that continued the upload, except the token that created it. */
function continuedBy(tokenId: string | null): SQL {
  return sql`case when ${tokenId}::uuid is null or f.token_id = ${tokenId}::uuid
      or ${tokenId}::uuid = any(f.continued_by) then f.continued_by
    else (f.continued_by || ${tokenId}::uuid)[greatest(cardinality(f.continued_by) - ${MAX_TOKENS - 2}::int, 1):] end`
}

function fits(plan: LeasePlan | undefined): SQL {
  if (!plan) return sql`false`
  const { fence, offsetBytes, bound } = plan
  return sql`(f.lease_fence = ${fence}::int and f.offset_bytes = ${offsetBytes}::bigint
    and f.recorded_parts = ${bound.recordedParts}::int and f.bound_ends = ${bigints(bound.boundEnds)})`
}

/** The lease on an unfinished upload; `leased` if it is held and has not expired. */
export async function readLease(
  db: Db,
  fileId: string,
): Promise<{ fence: number; leased: boolean } | undefined> {
  const [found] = await rows<{ fence: number; leased: boolean }>(
    db,
    sql`select lease_fence as fence, ${isLeased} as leased from files
      where id = ${fileId}::uuid and status = 'uploading'`,
  )
  return found
}

/**
 * Renews this process's leases in one statement, and returns those that nobody has taken over. They include leases
 * released while this ran: their writers have finished and did not lose them. Rows are locked in id order, as in every
 * statement that locks several files. Each result also includes whether the file's workspace has been suspended.
 */
export async function renewLeases(
  db: Db,
  leases: readonly Fenced[],
  leaseMs: number,
): Promise<ReadonlyMap<string, { suspended: boolean }>> {
  const ours = JSON.stringify(leases.map(({ rowId, claim }) => ({ id: rowId, claim })))
  const claim = sql`ours.claim`
  const renewed = await rows<{ id: string; suspended: boolean }>(
    db,
    sql`
    with ours as (select * from jsonb_to_recordset(${ours}::jsonb) as ours(id uuid, claim text)),
    held as (
      select f.id from files f join ours on f.id = ours.id where ${heldBy({ claim })} order by f.id for update of f
    ),
    renewed as (update files f set lease_until = ${until(leaseMs)} from held where f.id = held.id)
    select f.id, ${isSuspended(sql`f.workspace_id`)} as suspended from files f join ours on f.id = ours.id and ${lastHeldBy({ claim })}`,
  )
  return new Map(renewed.map(({ id, suspended }) => [id, { suspended }]))
}

export type Release = {
  /** The part numbers that must stay bound, because their parts may be in flight to the bucket. */
  bound?: Bound
  interrupted: boolean
  /** Recorded in the timeline. */
  refusal?: BucketRefusal | undefined
  /** The bucket has certainly not created the object. */
  completeRefused?: boolean | undefined
}

/** Releases the lease, and counts the bytes that the request delivered. */
export async function releaseLease(
  { db, clock }: { db: Db; clock: Clock },
  lease: Pick<Fenced, 'rowId' | 'claim'>,
  end: Release,
): Promise<void> {
  const nowMs = clock.now()
  const bound = end.bound ? sql` ${boundColumns(end.bound)},` : sql``
  const refused = end.completeRefused ? sql` complete_refused = true,` : sql``
  const noted = end.refusal ? sql`, ${noteRefusal(end.refusal, nowMs)}` : sql``
  await rows(
    db,
    sql`
    with writer as (
      select id, reserved_bytes, counted_bytes from files
      where id = ${lease.rowId}::uuid and ${heldBy(lease)} for update
    ), done as (
      update files f set ${released}, interrupted = f.interrupted or ${end.interrupted}::boolean,${bound}${refused}
        ${counting(sql`writer`, sql`f.offset_bytes`, nowMs)}
      from writer where f.id = writer.id
      returning ${fileOfLane(sql`f`)} as id, f.offset_bytes, ${deltas(sql`writer`)}
    ), ${countBytes(sql`done`, nowMs)}${noted}
    select 1`,
  )
}

/** For use when no node is running: expires every lease, so that uploads can be taken over immediately. */
export async function lapseLeases(db: Db): Promise<void> {
  await db.execute(
    sql`update files set lease_until = now() - interval '1 second' where lease_until is not null`,
  )
}
