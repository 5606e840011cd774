import { type SQL, sql } from 'drizzle-orm'
import type { ObjectStorage } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import type { SentPart } from '../bucket-port.ts'
import type { Bound } from '../rules/part-numbers.ts'
import { type Fenced, heldBy, lostLease } from './lease-terms.ts'

/**
 * A file's parts: the bindings of their numbers, and the parts that the bucket has. A number is bound before its part
 * is sent, and parts are only recorded in order.
 */
export type RecordedPart = {
  number: number
  offsetBytes: number
  sizeBytes: number
  /** The part's ETag at each destination, in order; null if a best-effort destination has not acknowledged the part. */
  etags: readonly (string | null)[]
  crc32: number
}

/** Binds the next part numbers to their ranges, unless another statement has already done so. */
export async function bindParts(db: Db, lease: Fenced, bound: Bound): Promise<void> {
  const done = await rows(
    db,
    sql`update files set ${boundColumns(bound)}
      where id = ${lease.rowId}::uuid and ${heldBy(lease)}
      returning id`,
  )
  if (done.length === 0) throw lostLease()
}

/**
 * Assignments for an update of `files`. If a writer never received the result of an earlier statement, its view of
 * the bindings may be out of date and is then ignored.
 */
export function boundColumns({ recordedParts, recordedBytes, boundEnds }: Bound): SQL {
  return sql`recorded_parts = greatest(recorded_parts, ${recordedParts}::int),
    recorded_bytes = greatest(recorded_bytes, ${recordedBytes}::bigint),
    bound_ends = case when recorded_parts <= ${recordedParts}::int then ${bigints(boundEnds)} else bound_ends end`
}

/** The table's columns as a `Bound`. */
export function boundOf(table: SQL): SQL {
  return sql`json_build_object('recordedParts', ${table}.recorded_parts, 'recordedBytes', ${table}.recorded_bytes,
    'boundEnds', ${table}.bound_ends)`
}

export function bigints(numbers: readonly number[]): SQL {
  return sql`${`{${numbers.join()}}`}::bigint[]`
}

export type NewMultipart = { dataStoreId: string; multipartId: string; storage: ObjectStorage | null }

/** Records the multipart upload, so that later writers continue it. */
export async function recordMultipart(
  db: Db,
  lease: Fenced,
  { dataStoreId, multipartId, storage }: NewMultipart,
): Promise<void> {
  const recorded = await rows(
    db,
    sql`
    with writer as (
      select id from files
      where id = ${lease.rowId}::uuid and ${heldBy(lease)}
        and status in ('uploading', 'transferring')
      for update
    )
    update file_destinations d set multipart_id = ${multipartId}, storage = ${storage && JSON.stringify(storage)}::jsonb from writer
    where d.file_id = writer.id and d.data_store_id = ${dataStoreId}::uuid and d.status in ('pending', 'transferring')
    returning d.file_id`,
  )
  if (recorded.length === 0) throw lostLease()
}

/** A step that records a part for the writer of another step, which has `file_id` and a lane's `first_byte`. */
export function insertPart({ number, offsetBytes, sizeBytes, etags, crc32 }: RecordedPart, from: SQL): SQL {
  return sql`part as (insert into file_parts (file_id, number, offset_bytes, size_bytes, etags, crc32)
    select file_id, ${number}::int, coalesce(first_byte, 0) + ${offsetBytes}::bigint, ${sizeBytes}::bigint, ${texts(etags)}, ${crc32}::bigint from ${from})`
}

/** PostgreSQL's notation of an array, which is cheaper to read than JSON. */
function texts(values: readonly (string | null)[]): SQL {
  const quoted = values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`))
  return sql`${`{${quoted.join()}}`}::text[]`
}

/**
 * Records that a best-effort destination has acknowledged parts after they were recorded. No lease is needed:
 * a number is bound to its bytes, no matter who sends them.
 */
export async function recordLateEtags(
  db: Db,
  to: { fileId: string; dataStoreId: string; position: number; multipartId: string },
  acknowledged: readonly { number: number; etag: string }[],
): Promise<void> {
  await rows(
    db,
    sql`update file_parts p set etags[${to.position}::int] = late.etag
      from jsonb_to_recordset(${JSON.stringify(acknowledged)}::jsonb) late(number int, etag text), file_destinations d
      where p.file_id = ${to.fileId}::uuid and p.number = late.number and d.file_id = p.file_id
        and d.data_store_id = ${to.dataStoreId}::uuid and d.multipart_id = ${to.multipartId}`,
  )
}

/** Records that a `transferring` file's tail is now a part. Its bytes were counted when they arrived. */
export async function recordLastPart(db: Db, lease: Fenced, part: RecordedPart): Promise<void> {
  const recorded = await rows(
    db,
    sql`
    with writer as (
      select id, id as file_id, first_byte from files
      where id = ${lease.rowId}::uuid and ${heldBy(lease)}
        and status = 'transferring'
      for update
    ), ${insertPart(part, sql`writer`)},
    untailed as (delete from upload_tails t using writer where t.file_id = writer.id)
    select id from writer`,
  )
  if (recorded.length === 0) throw lostLease()
}

/**
 * Deletes the parts and tails of a file that the transaction has just ended. This is a statement of its own, because a
 * statement that waits for the file's row does not see the bytes that a writer commits meanwhile.
 */
export async function deleteBytes(tx: Db, fileId: string): Promise<void> {
  await tx.execute(sql`with unparted as (delete from file_parts where file_id = ${fileId}::uuid)
    delete from upload_tails where file_id = ${fileId}::uuid`)
}

/** The parts of the object at one destination, in order. */
export function readParts(
  db: Db,
  fileId: string,
  position: number,
): Promise<(SentPart & { etag: string | null })[]> {
  return rows(
    db,
    sql`select number, etags[${position}::int] as etag, crc32 from file_parts where file_id = ${fileId}::uuid order by number`,
  )
}
