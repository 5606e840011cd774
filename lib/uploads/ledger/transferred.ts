import { sql } from 'drizzle-orm'
import type { ObjectStorage } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { countBytes, counting, deltas } from '../../workspace/usage/count-bytes.ts'
import { type DestinationState, type Failure, statusOf } from '../rules/file-status.ts'
import { afterLateRequests } from './endings.ts'
import { endLanes } from './lane-endings.ts'
import { type Fenced, heldBy, released } from './lease-terms.ts'
import { type Advance, advance } from './offsets.ts'
import { deleteBytes } from './part-rows.ts'
import { insertNote } from './timeline.ts'

/**
 * How a file gets its object at each of its destinations, and becomes `transferred`, or `partially_transferred` if a
 * best-effort destination is missing it. `whole-files.ts` has the statement for files stored by a single PutObject.
 */
export type StoredObject = {
  etag: string | null
  certainty: 'answered' | 'confirmed' | 'inferred'
  /**
   * The settings that the Data Store adds to those of an object stored by PutObject. For an object made of parts, they
   * are recorded with the first part.
   */
  storage?: ObjectStorage | null | undefined
}
/** The object at one destination. */
export type StoredAt = StoredObject & { dataStoreId: string }
export type DoneStatus = 'transferred' | 'partially_transferred'

type At = { fileId: string; dataStoreId: string }

/**
 * A condition on a destination `d` that has the object: unless the bucket itself has assembled the object from the
 * multipart upload, an earlier request may have created it, and the multipart upload remains.
 */
const MAY_HAVE_MULTIPART = sql`d.status = 'transferred' and d.certainty <> 'answered' and d.multipart_id is not null`

/**
 * Abandons a best-effort destination. This needs no lease, because nothing else about the file changes. A late
 * PutObject does no harm, because it contains the same bytes as a repair; only a multipart upload has to be cleared.
 */
export async function recordDestinationFailure(
  db: Db,
  { fileId, dataStoreId }: At,
  { reason, detail }: Failure,
  nowMs: number,
): Promise<void> {
  await rows(
    db,
    sql`
    with open as (
      select id from files where id = ${fileId}::uuid and status in ('uploading', 'transferring') for update
    ), failed as (
      update file_destinations d set status = 'failed', reason = ${reason}, reason_detail = ${detail},
        abort_pending = d.multipart_id is not null, abort_at = ${afterLateRequests(nowMs)}
      from open where d.file_id = open.id and d.data_store_id = ${dataStoreId}::uuid
        and d.status in ('pending', 'transferring') and not d.required
      returning d.file_id as id
    )
    ${insertNote({ kind: 'destination_failed', detail: { destinationId: dataStoreId, reason, detail } }, sql`failed`, nowMs)}`,
  )
}

/**
 * Records where the object exists, for a file that is not finished yet because another destination still lacks it. Has
 * no effect if the lease was lost.
 */
export async function recordStoredAt(db: Db, lease: Fenced, storedAt: readonly StoredAt[]): Promise<void> {
  if (storedAt.length === 0) return
  await db.transaction(async (tx) => {
    if (await lockTransferring(tx, lease)) await store(tx, lease, storedAt)
  })
}

/**
 * Records that a PutObject of the entire file succeeded at each of these destinations. The offset moves in the same
 * transaction, so the bytes are stored nowhere else: a destination that is missing them can only get a copy of the
 * object.
 */
export async function recordPut(
  db: Db,
  lease: Fenced,
  change: Pick<Advance, 'fromBytes' | 'toBytes' | 'crc32' | 'hashed' | 'foundType'>,
  storedAt: readonly StoredAt[],
  nowMs: number,
): Promise<void> {
  await db.transaction(async (tx) => {
    await advance(tx, lease, { ...change, become: 'transferring' }, nowMs)
    await tx.execute(sql`delete from upload_tails where file_id = ${lease.rowId}::uuid`)
    await store(tx, lease, storedAt)
  })
}

/** Locks the row first, so that the following statements see everything committed before. */
async function lockTransferring(tx: Db, lease: Fenced): Promise<boolean> {
  const locked = await rows(
    tx,
    sql`select 1 from files where id = ${lease.rowId}::uuid and ${heldBy(lease)} and status = 'transferring' for update`,
  )
  return locked.length > 0
}

/** An abandoned destination stays abandoned, whatever its bucket still accepts. */
async function store(tx: Db, { rowId: fileId }: Fenced, storedAt: readonly StoredAt[]): Promise<void> {
  await rows(
    tx,
    sql`update file_destinations d set status = 'transferred', etag = known.etag, certainty = known.certainty,
        storage = coalesce(known.storage, d.storage)
      from ${storedAtOf(storedAt)} where d.file_id = ${fileId}::uuid and d.data_store_id = known."dataStoreId" and d.status <> 'failed'`,
  )
}

const storedAtOf = (storedAt: readonly StoredAt[]) =>
  sql`jsonb_to_recordset(${JSON.stringify(storedAt)}::jsonb) known("dataStoreId" uuid, etag text, certainty text, storage jsonb)`

/**
 * Finishes a file whose last destinations have just got the object. Deletes the parts and tails, and releases the
 * lease. Failed destinations become due for repair immediately, unless the file is a piece of another file, in which
 * case that file is repaired instead. Undefined if the lease was lost, or a destination is still pending.
 */
export async function recordTransferred(
  tx: Db,
  lease: Fenced,
  storedAt: readonly StoredAt[],
  nowMs: number,
): Promise<DoneStatus | undefined> {
  if (!(await lockTransferring(tx, lease))) return undefined
  if (storedAt.length > 0) await store(tx, lease, storedAt)
  const destinations = await rows<DestinationState & { certainty: string | null }>(
    tx,
    sql`select status, required, certainty from file_destinations where file_id = ${lease.rowId}::uuid order by position`,
  )
  const status = statusOf(destinations)
  if (status !== 'transferred' && status !== 'partially_transferred') return undefined
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const detail = {
    certainty: destinations[0]!.certainty,
    ...(destinations.length > 1 && { status }),
  }
  await rows(
    tx,
    sql`
    with done as (
      update files set status = ${status}, finished_at = ${now}, sha256_state = null, ${released} where id = ${lease.rowId}::uuid
      returning id, concat, concat_parts
    ), repaired_next as (
      update file_destinations d set repair_at = ${now} from done
      where d.file_id = done.id and d.status = 'failed' and done.concat is distinct from 'partial'
    ), unassembled as (
      update file_destinations d set abort_pending = true, abort_at = ${afterLateRequests(nowMs)} from done
      where d.file_id = done.id and ${MAY_HAVE_MULTIPART} and done.concat is distinct from 'partial'
    ), joined as (
      update file_destinations d set abort_pending = true, abort_at = ${afterLateRequests(nowMs)} from done where d.file_id = any(done.concat_parts)
    ), noted as (${insertNote({ kind: 'completed', detail }, sql`done`, nowMs)})
    select id from done`,
  )
  await deleteBytes(tx, lease.rowId)
  return status
}

/** What was found at a destination of a file that the ledger considers unfinished. */
export type Found = { dataStoreId: string; etag: string | null; isThere: boolean }

/**
 * If a hook decides on the file, the object only exists because the hook allowed it, even if a restored database does
 * not know that.
 */
const ALLOWED = sql`case when f.decision is not null then 'allowed' end`

/**
 * Finishes a file whose complete object was found at every required destination, even if the ledger only has some of
 * its bytes because the database was restored from an earlier backup. Destinations without the object become due for
 * repair. Undefined if the lease was lost, or for an unfinished partial upload, because the checksum needed for joining
 * is lost.
 */
export async function recordFound(
  tx: Db,
  lease: Fenced,
  { lengthBytes, destinations }: { lengthBytes: number | null; destinations: readonly Found[] },
  nowMs: number,
): Promise<DoneStatus | undefined> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const status = destinations.every(({ isThere }) => isThere) ? 'transferred' : 'partially_transferred'
  const [writer] = await rows<{ lanes: string | null }>(
    tx,
    sql`select lanes::text from files where id = ${lease.rowId}::uuid and ${heldBy(lease)} for no key update`,
  )
  if (writer?.lanes)
    await endLanes(tx, { fileId: lease.rowId, lanes: writer.lanes, status: 'transferred' }, nowMs)
  const found = await rows(
    tx,
    sql`
    with open as (
      select id, reserved_bytes, counted_bytes, coalesce(length_bytes, ${lengthBytes}::bigint) as length_bytes
      from files where id = ${lease.rowId}::uuid and ${heldBy(lease)} and status = 'uploading'
        and concat is distinct from 'partial'
      for update
    ), done as (
      update files f set status = ${status}, offset_bytes = open.length_bytes, length_bytes = open.length_bytes,
        decision = ${ALLOWED}, finished_at = ${now}, sha256_state = null, ${released}, interrupted = false,
        ${counting(sql`open`, sql`open.length_bytes`, nowMs)}
      from open where f.id = open.id returning f.id, ${deltas(sql`open`)}
    ), ${countBytes(sql`done`, nowMs)}, stored as (
      update file_destinations d set etag = known.etag,
        status = case when known."isThere" then 'transferred' else 'failed' end,
        certainty = case when known."isThere" then 'found' end,
        reason = case when not known."isThere" then coalesce(d.reason, 'unknown') end,
        reason_detail = case when not known."isThere" then d.reason_detail end,
        abort_pending = not known."isThere" and d.multipart_id is not null, abort_at = ${now},
        repair_at = case when not known."isThere" then ${now} end
      from done, jsonb_to_recordset(${JSON.stringify(destinations)}::jsonb) known("dataStoreId" uuid, etag text, "isThere" boolean)
      where d.file_id = done.id and d.data_store_id = known."dataStoreId"
    ), noted as (${insertNote({ kind: 'completed', detail: { certainty: 'found' } }, sql`done`, nowMs)})
    select id from done`,
  )
  if (found.length === 0) return undefined
  await deleteBytes(tx, lease.rowId)
  return status
}
