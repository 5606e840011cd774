import { type SQL, sql } from 'drizzle-orm'
import type { FileObject, ObjectStorage } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../platform/db/database.ts'
import type { SentPart } from '../uploads/bucket-port.ts'
import { afterLateRequests } from '../uploads/ledger/endings.ts'
import { until } from '../uploads/ledger/lease-terms.ts'
import { insertNote } from '../uploads/ledger/timeline.ts'
import type { StoredObject } from '../uploads/ledger/transferred.ts'
import type { DestinationState } from '../uploads/rules/file-status.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../workspace/data-stores/sealed-data-store.ts'

/**
 * Repairs: objects copied to a best-effort destination that is missing them. `repair_at` is set while there will be
 * another attempt. Each attempt has a claim that every statement names, so a worker that was wrongly presumed dead can
 * change nothing here. Its requests to the bucket do no harm, because a part number always stands for the same range of
 * the same bytes.
 */
export type RepairClaim = { fileId: string; dataStoreId: string; claim: string }

export type Repair = RepairClaim & {
  /** The number of attempts that copied nothing. */
  failures: number
  /** When this attempt was due. */
  dueAt: string
  key: string
  filetype: string | null
  object: FileObject | null
  bytes: number
  /** Null for a file that was found after a restore, because not all of its bytes were seen. */
  crc32: number | null
  multipartId: string | null
  /** True if the multipart upload was abandoned and has to be aborted. */
  abortPending: boolean
  dataStore: SealedDataStore
  /** The destinations that have the object and can be read, in order. */
  sources: readonly { key: string; dataStore: SealedDataStore }[]
}

type RepairLimits = {
  limit: number
  limitPerBucket: number
  /** The Data Stores this node is copying to, one entry per copy. */
  busy: readonly string[]
  nowMs: number
}

/** A request in flight when the destination was abandoned either arrives within this time or not at all. */
const ARRIVES_WITHIN_SECONDS = 60

/**
 * Claims some of the due repairs. The query goes from Data Store to Data Store, so that a bucket missing a million
 * objects does not delay repairs in other buckets. A claim that was not renewed has expired: its repair continues from
 * its last recorded part.
 */
export function claimRepairs(
  db: Db,
  leaseMs: number,
  { limit, limitPerBucket, busy, nowMs }: RepairLimits,
): Promise<Repair[]> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  return rows<Repair>(
    db,
    sql`
    with recursive stores as (
      (select data_store_id as id from file_destinations where repair_at is not null order by data_store_id limit 1)
      union all
      select (select d.data_store_id from file_destinations d
        where d.repair_at is not null and d.data_store_id > stores.id order by d.data_store_id limit 1)
      from stores where stores.id is not null
    ), busy as (
      select value::uuid as id, count(*) as copies from jsonb_array_elements_text(${JSON.stringify(busy)}::jsonb) group by 1
    ), due as (
      select one.file_id, one.data_store_id from stores
        join data_stores ds on ds.id = stores.id and ds.deleted_at is null left join busy on busy.id = stores.id
        cross join lateral (
          select d.file_id, d.data_store_id from file_destinations d join files f on f.id = d.file_id
          where d.data_store_id = stores.id and d.repair_at <= ${now} and (d.repair_until is null or d.repair_until <= now())
            and f.status = 'partially_transferred' and f.erased_at is null
            and (not d.abort_pending or f.finished_at <= ${now} - ${ARRIVES_WITHIN_SECONDS}::int * interval '1 second')
          order by d.repair_at limit greatest(${limitPerBucket}::int - coalesce(busy.copies, 0), 0) for update of d skip locked
        ) one
      limit ${limit}::int
    ), claimed as (
      update file_destinations d set repair_claim = gen_random_uuid()::text, repair_until = ${until(leaseMs)}
      from due where d.file_id = due.file_id and d.data_store_id = due.data_store_id returning d.*
    )
    select c.file_id as "fileId", c.data_store_id as "dataStoreId", c.repair_claim as claim, coalesce(c.repair_attempts, 0) as failures, c.repair_at::text as "dueAt", c.key,
      f.filetype, f.object, f.length_bytes as bytes, c.multipart_id as "multipartId", c.abort_pending as "abortPending",
      case when not exists (select from file_destinations d where d.file_id = f.id and d.certainty = 'found') then f.crc32 end as crc32,
      ${sealedDataStoreColumn()} as "dataStore", ${SOURCES} as sources
    from claimed c join files f on f.id = c.file_id join data_stores ds on ds.id = c.data_store_id`,
  )
}

/** A condition on a destination `d` and its Data Store `ds`: the object can be copied from there. */
export const isSource = sql`d.status = 'transferred' and ds.may_read and ds.deleted_at is null and ds.turned_off_at is null`

const SOURCES = sql`(select coalesce(json_agg(json_build_object('key', d.key, 'dataStore', ${sealedDataStoreColumn()})
      order by d.position), '[]')
    from file_destinations d join data_stores ds on ds.id = d.data_store_id where d.file_id = c.file_id and ${isSource})`

/** A condition on a row of `file_destinations d`: the claim has not been lost. */
const held = ({ fileId, dataStoreId, claim }: RepairClaim) =>
  sql`d.file_id = ${fileId}::uuid and d.data_store_id = ${dataStoreId}::uuid and d.repair_claim = ${claim}`

/** False if another worker has taken over the repair, or there is nothing left to repair. */
export async function renewRepair(db: Db, repair: RepairClaim, leaseMs: number): Promise<boolean> {
  const renewed = await rows(
    db,
    sql`update file_destinations d set repair_until = ${until(leaseMs)} where ${held(repair)} returning 1`,
  )
  return renewed.length > 0
}

/** Records that the abandoned multipart upload was aborted, or cannot be aborted. False if the claim was lost. */
export async function recordCleared(db: Db, repair: RepairClaim): Promise<boolean> {
  const cleared = await rows(
    db,
    sql`
    with cleared as (
      update file_destinations d set multipart_id = null, storage = null, abort_pending = false where ${held(repair)} returning d.*
    ), unparted as (
      delete from repaired_parts p using cleared c where p.file_id = c.file_id and p.data_store_id = c.data_store_id
    )
    select 1 from cleared`,
  )
  return cleared.length > 0
}

/** Records the multipart upload. False if the claim was lost: the multipart upload is then orphaned. */
export async function recordRepairMultipart(
  db: Db,
  repair: RepairClaim,
  { multipartId, storage }: { multipartId: string; storage: ObjectStorage | null },
): Promise<boolean> {
  const recorded = await rows(
    db,
    sql`update file_destinations d set multipart_id = ${multipartId}${storageColumn(storage)} where ${held(repair)} and not d.abort_pending returning 1`,
  )
  return recorded.length > 0
}

/** An additional assignment for an update of `file_destinations`; empty if there is nothing to record. */
function storageColumn(storage: ObjectStorage | null | undefined): SQL {
  return storage ? sql`, storage = ${JSON.stringify(storage)}::jsonb` : sql``
}

export type RepairedPart = SentPart & { sizeBytes: number; crc32: number }

/** The parts already copied, in order. */
export function readRepairedParts(db: Db, { fileId, dataStoreId }: RepairClaim): Promise<RepairedPart[]> {
  return rows(
    db,
    sql`select number, size_bytes as "sizeBytes", etag, crc32 from repaired_parts
      where file_id = ${fileId}::uuid and data_store_id = ${dataStoreId}::uuid order by number`,
  )
}

/** Records a copied part and renews the claim. False if the claim was lost. */
export async function recordRepairedPart(
  db: Db,
  repair: RepairClaim,
  { number, sizeBytes, etag, crc32 }: RepairedPart,
  leaseMs: number,
): Promise<boolean> {
  const recorded = await rows(
    db,
    sql`
    with mine as (
      update file_destinations d set repair_until = ${until(leaseMs)}
      where ${held(repair)} and not d.abort_pending returning d.file_id, d.data_store_id
    )
    insert into repaired_parts (file_id, data_store_id, number, size_bytes, etag, crc32)
    select file_id, data_store_id, ${number}::int, ${sizeBytes}::bigint, ${etag}, ${crc32}::bigint from mine returning 1`,
  )
  return recorded.length > 0
}

/** How an attempt ended without an object. `retryAtMs` is undefined after the last attempt. */
export type FailedAttempt = {
  detail: string
  startsOver: boolean
  failures: number
  retryAtMs: number | undefined
}

/**
 * Copied parts are kept for the next attempt, unless that attempt starts over or there is none. If someone requested a
 * repair in the meantime, the requested attempt is next.
 */
export async function recordFailedAttempt(
  db: Db,
  repair: RepairClaim & Pick<Repair, 'dueAt'>,
  { detail, startsOver, failures, retryAtMs }: FailedAttempt,
  nowMs: number,
): Promise<void> {
  const retryAt = retryAtMs === undefined ? null : new Date(retryAtMs).toISOString()
  const isLast = sql`e.repair_at is null`
  const isRequested = sql`d.repair_at is distinct from ${repair.dueAt}::timestamptz`
  const isDropped = sql`(${startsOver}::boolean or ${retryAt === null}::boolean and not ${isRequested})`
  const told = { destinationId: repair.dataStoreId, detail }
  const note = {
    kind: 'repair_failed',
    detail: sql`${JSON.stringify(told)}::jsonb || jsonb_build_object('last', ${isLast})`,
  }
  await rows(
    db,
    sql`
    with ended as (
      update file_destinations d set repair_claim = null, repair_until = null,
        repair_at = case when ${isRequested} then d.repair_at else ${retryAt}::timestamptz end,
        repair_attempts = case when ${isRequested} then 0 else ${failures}::int end, reason_detail = ${detail},
        abort_pending = d.abort_pending or ${isDropped} and d.multipart_id is not null,
        abort_at = case when ${isDropped} then ${new Date(nowMs).toISOString()}::timestamptz else d.abort_at end
      where ${held(repair)} returning d.file_id as id, d.file_id, d.data_store_id, d.repair_at
    ), unparted as (
      delete from repaired_parts p using ended e
      where (${startsOver}::boolean or ${isLast}) and p.file_id = e.file_id and p.data_store_id = e.data_store_id
    )
    ${insertNote(note, sql`ended e`, nowMs)}`,
  )
}

/**
 * Releases the claim of a node that is stopping. Another node continues immediately, and the interrupted attempt is not
 * counted.
 */
export async function giveRepairBack(db: Db, repair: RepairClaim): Promise<void> {
  await rows(
    db,
    sql`update file_destinations d set repair_claim = null, repair_until = null where ${held(repair)}`,
  )
}

/**
 * Records that the object exists. Returns the states of the file's destinations, with the file locked; undefined if
 * the claim was lost.
 */
export async function recordRepaired(
  tx: Db,
  repair: RepairClaim,
  { etag, certainty, storage }: StoredObject,
  nowMs: number,
): Promise<DestinationState[] | undefined> {
  const { fileId, dataStoreId } = repair
  const [file] = await rows(
    tx,
    sql`select 1 from files where id = ${fileId}::uuid and status = 'partially_transferred' and erased_at is null for no key update`,
  )
  if (!file) return undefined
  const note = { kind: 'destination_repaired', detail: { destinationId: dataStoreId, certainty } }
  const repaired = await rows(
    tx,
    sql`
    with repaired as (
      update file_destinations d set status = 'transferred', etag = ${etag}, certainty = ${certainty}${storageColumn(storage)}, reason = null,
        reason_detail = null, abort_pending = ${certainty !== 'answered'} and d.multipart_id is not null,
        abort_at = ${afterLateRequests(nowMs)}, repair_at = null, repair_attempts = null, repair_claim = null, repair_until = null
      where ${held(repair)} and d.status = 'failed' returning d.file_id as id, d.file_id, d.data_store_id
    ), unparted as (
      delete from repaired_parts p using repaired r where p.file_id = r.file_id and p.data_store_id = r.data_store_id
    ), noted as (${insertNote(note, sql`repaired`, nowMs)})
    select 1 from repaired`,
  )
  if (repaired.length === 0) return undefined
  return rows<DestinationState>(
    tx,
    sql`select status, required from file_destinations where file_id = ${fileId}::uuid`,
  )
}

/** Marks a file as transferred once every destination has the object. */
export async function markRepaired(tx: Db, fileId: string): Promise<void> {
  await rows(tx, sql`update files set status = 'transferred' where id = ${fileId}::uuid`)
}
