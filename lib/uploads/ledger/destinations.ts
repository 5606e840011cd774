import { sql } from 'drizzle-orm'
import type { DestinationReason, DestinationStatus } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Failure } from '../rules/file-status.ts'
import { afterLateRequests } from './endings.ts'
import { type Fenced, heldBy, released } from './lease-terms.ts'
import { type Advance, advance } from './offsets.ts'
import { deleteBytes, storageColumn } from './parts.ts'
import { insertNote } from './timeline.ts'
import type { Delivered } from './transferred.ts'

/**
 * The destinations of a file that has several. Each ends separately, as transferred or failed, and the file's status
 * follows from theirs. A file with one destination ends through the statements in `transferred.ts` and `endings.ts`.
 */
export type DestinationRow = {
  dataStoreId: string
  status: DestinationStatus
  required: boolean
  certainty: string | null
  etag: string | null
  reason: DestinationReason | null
  detail: string | null
  /** The length of the entire file. */
  lengthBytes: number
  crc32: number
}

type At = { fileId: string; dataStoreId: string }

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
        and d.status in ('pending', 'transferring') and d.required is false
      returning d.file_id as id
    )
    ${insertNote({ kind: 'destination_failed', detail: { destinationId: dataStoreId, reason, detail } }, sql`failed`, nowMs)}`,
  )
}

/**
 * Records that the object exists at one destination. False if the lease was lost, or the destination has been
 * abandoned.
 */
export async function recordDelivery(
  db: Db,
  lease: Fenced,
  dataStoreId: string,
  { etag, certainty, storage }: Delivered,
): Promise<boolean> {
  const marked = await rows(
    db,
    sql`
    with writer as (
      select id from files where id = ${lease.fileId}::uuid and ${heldBy(lease)} and status = 'transferring' for update
    )
    update file_destinations d set status = 'transferred', etag = ${etag}, certainty = ${certainty}${storageColumn(storage)}
    from writer where d.file_id = writer.id and d.data_store_id = ${dataStoreId}::uuid and d.status <> 'failed'
    returning 1`,
  )
  return marked.length > 0
}

export type Delivery = Delivered & { dataStoreId: string }

/**
 * Records that a PutObject of the entire file succeeded at each of these destinations. The offset moves in the same
 * transaction, so the bytes are stored nowhere else: a destination that is missing them can only get a copy of the
 * object.
 */
export async function recordPut(
  db: Db,
  lease: Fenced,
  change: Pick<Advance, 'fromBytes' | 'toBytes' | 'crc32' | 'foundType'>,
  deliveries: readonly Delivery[],
  nowMs: number,
): Promise<void> {
  await db.transaction(async (tx) => {
    await advance(tx, lease, { ...change, become: 'transferring' }, nowMs)
    await tx.execute(sql`delete from upload_tails where file_id = ${lease.fileId}::uuid`)
    for (const { dataStoreId, ...delivered } of deliveries)
      await recordDelivery(tx, lease, dataStoreId, delivered)
  })
}

/** Locks the file, unless the lease was lost, and returns its destinations, required ones first. */
export async function lockDestinations(tx: Db, lease: Fenced): Promise<DestinationRow[]> {
  return rows<DestinationRow>(
    tx,
    sql`select d.data_store_id as "dataStoreId", d.status, d.required is distinct from false as required, d.certainty,
        d.etag, d.reason, d.reason_detail as detail, f.length_bytes as "lengthBytes", f.crc32
      from files f join file_destinations d on d.file_id = f.id
      where f.id = ${lease.fileId}::uuid and ${heldBy(lease)} and f.status = 'transferring'
      order by d.position for update of f, d`,
  )
}

/**
 * Records that every required destination has the object, and that no other destination is pending. Deletes the parts
 * and tails, and releases the lease. Failed destinations become due for repair immediately, unless the file is a piece
 * of another file, in which case that file is repaired instead.
 */
export async function recordDelivered(
  tx: Db,
  { fileId }: Fenced,
  { status, certainty }: { status: 'transferred' | 'partially_transferred'; certainty: string | null },
  nowMs: number,
): Promise<void> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  await rows(
    tx,
    sql`
    with done as (
      update files set status = ${status}, finished_at = ${now}, ${released} where id = ${fileId}::uuid
      returning id, concat, concat_parts
    ), repaired_next as (
      update file_destinations d set repair_at = ${now} from done
      where d.file_id = done.id and d.status = 'failed' and done.concat is distinct from 'partial'
    ), joined as (
      update file_destinations d set abort_pending = true, abort_at = ${afterLateRequests(nowMs)}
      from done where d.file_id = any(done.concat_parts)
    ), noted as (${insertNote({ kind: 'completed', detail: { certainty, status } }, sql`done`, nowMs)})
    select id from done`,
  )
  await deleteBytes(tx, fileId)
}
