import { type SQL, sql } from 'drizzle-orm'
import type { FileObject, FileProtocol } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { type Claim, isFree, taken } from '../uploads/ledger/lease-terms.ts'
import { sha256Of } from '../uploads/ledger/offsets.ts'
import { tailBytes } from '../uploads/ledger/tail-rows.ts'
import type { Checksums } from '../uploads/rules/checksums.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../workspace/data-stores/sealed-data-store.ts'

/** A file whose bytes are all durable, but whose writer was lost before the object was created. */
export type Claimed = {
  fileId: string
  fence: number
  claim: string
  filetype: string | null
  object: FileObject | null
  verifyContent: boolean | null
  declared: Checksums
  /** All destinations, the required ones first. */
  destinations: readonly ClaimedDestination[]
  bytes: number
  crc32: number
  sha256: string | null
  /** The part number for the tail, the same in each attempt. */
  tailPartNumber: number
  tailBytes: number
  /** The bucket may have created the object in an earlier attempt. */
  sentBefore: boolean
  /** When the previous attempt started. */
  lastAttemptMs: number | null
  /** When the last byte arrived, or a hook allowed the object. */
  sinceMs: number
  concat: 'partial' | 'final' | null
  concatParts: string[] | null
}

export type ClaimedDestination = {
  /** Starts at 1. */
  position: number
  key: string
  multipartId: string | null
  required: boolean
  /** True if the destination has no object yet and has not been abandoned. */
  isOpen: boolean
  dataStore: SealedDataStore
}

type ClaimLimits = {
  limit: number
  limitPerBucket: number
  /** The Data Stores of the files that this node is working on, one entry per file. */
  busy: readonly string[]
  nowMs: number
}

/** Seconds between attempts: 5, 10, 20 … up to ten minutes. */
const backoffSeconds = sql`least(5 * power(2, least(f.complete_attempts, 7)), 600)`

/**
 * Takes the leases of some files that have no writer, so that only this node works on them, and records that Complete
 * is about to be sent. No bucket gets more than its share, so a hanging bucket does not delay other buckets' files. An
 * upload can have all its bytes and still be `uploading`, if its length was declared after them and then the process
 * died or the bucket refused the object.
 */
export function claimTransferring(
  db: Db,
  claim: Claim,
  { limit, limitPerBucket, busy, nowMs }: ClaimLimits,
): Promise<Claimed[]> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const isDue = dueAt(now)
  return rows<Claimed>(
    db,
    sql`
    with busy as (
      select value::uuid as data_store_id, count(*) as files
      from jsonb_array_elements_text(${JSON.stringify(busy)}::jsonb) group by 1
    ), waiting_at as (
      select f.id, coalesce(busy.files, 0)
        + row_number() over (partition by d.data_store_id order by f.created_at, f.id) as place
      from files f join file_destinations d on d.file_id = f.id and d.required
        left join busy on busy.data_store_id = d.data_store_id
      where ${isDue} and (d.status <> 'transferred' or d.position = 1)
    ), waiting as (
      select id, max(place) as place from waiting_at group by id
    ), due as (
      select f.id, (f.complete_attempts > 0 or f.complete_sent_at is not null) and not f.complete_refused as sent_before,
        f.complete_sent_at as last_attempt_at
      from files f join waiting on waiting.id = f.id
      where waiting.place <= ${limitPerBucket}::int and ${isDue}
      order by waiting.place, f.created_at, f.id limit ${limit}::int for update of f skip locked
    ), claimed as (
      update files f set ${taken(claim)}, status = 'transferring',
        last_byte_at = case when f.status = 'uploading' then ${now} else f.last_byte_at end,
        complete_sent_at = ${now}, complete_attempts = f.complete_attempts + 1, complete_refused = false
      from due where f.id = due.id
      returning f.*, due.sent_before, due.last_attempt_at
    ), going as (
      update file_destinations d set status = 'transferring' from claimed
      where d.file_id = claimed.id and d.status = 'pending'
    )
    select ${CLAIMED_COLUMNS}
    from claimed c`,
  )
}

const DESTINATIONS = sql`(select json_agg(json_build_object('position', d.position, 'key', d.key, 'multipartId', d.multipart_id,
      'required', d.required, 'isOpen', d.status in ('pending', 'transferring'),
      'dataStore', ${sealedDataStoreColumn()}) order by d.position)
    from file_destinations d join data_stores ds on ds.id = d.data_store_id where d.file_id = c.id)`

/** The columns of a claimed file, for a row `c` of `files` with `sent_before` and `last_attempt_at`. */
export const CLAIMED_COLUMNS = sql`c.id as "fileId", c.lease_fence as fence, c.lease_holder as claim, c.filetype, c.object, c.verify_content as "verifyContent", json_build_object('crc32', c.declared_crc32, 'sha256', c.declared_sha256) as declared, ${DESTINATIONS} as destinations,
      c.length_bytes as bytes, c.crc32, ${sha256Of(sql`c`)} as sha256, c.recorded_parts + 1 as "tailPartNumber", c.sent_before as "sentBefore",
      floor(extract(epoch from coalesce((select d.decided_at from file_decisions d
        where c.decision = 'allowed' and d.file_id = c.id and d.hook = 'before_complete'), c.last_byte_at, c.created_at)) * 1000)::bigint as "sinceMs",
      floor(extract(epoch from c.last_attempt_at) * 1000)::bigint as "lastAttemptMs",
      c.concat, c.concat_parts as "concatParts",
      (select coalesce(sum(${tailBytes}), 0)::bigint from upload_tails where file_id = c.id) as "tailBytes"`

/** The protocol whose clients declare an upload complete, regardless of its length. */
export const COMPLETED_BY_CLIENT = 'resumable-http' satisfies FileProtocol

/**
 * True for a row of `files f` that is still `uploading` although all its bytes have arrived: its length was only declared
 * after the last byte, and then the process died or the bucket refused the object.
 */
export const hasAllBytes = sql`(f.status = 'uploading' and f.offset_bytes = f.length_bytes and f.protocol <> ${COMPLETED_BY_CLIENT})`

function dueAt(now: SQL): SQL {
  return sql`(f.status = 'transferring'
      or ${hasAllBytes})
    and (f.decision is null or f.decision = 'allowed') and ${isFree}
    and coalesce(f.complete_sent_at + ${backoffSeconds} * interval '1 second' <= ${now}, true)`
}
