import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../db/database.ts'
import { type DataStoreRow, dataStoreColumn } from '../../tokens/authenticate-upload.ts'
import type { LeaseTerms } from './lease-terms.ts'

/** A file whose bytes are all durable, left without a writer before it was an object. */
export type Claimed = {
  fileId: string
  fence: number
  key: string
  filetype: string | null
  multipartId: string | null
  bytes: number
  crc32: number
  usedPartNumber: number
  tailBytes: number
  sentBefore: boolean
  sinceMs: number
  concat: 'partial' | 'final' | null
  concatParts: string[] | null
  dataStore: DataStoreRow
}

/** Seconds from one attempt to the next: 5, 10, 20 … up to ten minutes. */
const backoffSeconds = sql`least(5 * power(2, least(f.complete_attempts, 7)), 600)`

/** Takes the lease of some of them, each for one node, and notes the sending that is to follow. */
export function claimTransferring(
  db: Db,
  { holder, leaseMs }: LeaseTerms,
  { limit, nowMs }: { limit: number; nowMs: number },
): Promise<Claimed[]> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  return rows<Claimed>(
    db,
    sql`
    with due as (
      select f.id, f.complete_attempts > 0 or f.complete_sent_at is not null as sent_before from files f
      where f.status = 'transferring' and (f.lease_until is null or f.lease_until < now())
        and f.complete_sent_at + ${backoffSeconds} * interval '1 second' <= ${now}
      order by f.created_at limit ${limit}::int for update skip locked
    ), claimed as (
      update files f set lease_holder = ${holder}, lease_fence = f.lease_fence + 1,
        lease_until = now() + ${leaseMs}::int * interval '1 millisecond',
        complete_sent_at = ${now}, complete_attempts = f.complete_attempts + 1
      from due where f.id = due.id
      returning f.*, due.sent_before
    )
    select c.id as "fileId", c.lease_fence as fence, d.key, c.filetype, d.multipart_id as "multipartId",
      c.length_bytes as bytes, c.crc32, c.reserved_part_number as "usedPartNumber", c.sent_before as "sentBefore",
      floor(extract(epoch from coalesce(c.last_byte_at, c.created_at)) * 1000)::bigint as "sinceMs",
      c.concat, c.concat_parts as "concatParts", ${dataStoreColumn()} as "dataStore",
      (select coalesce(sum(octet_length(bytes)), 0)::bigint from upload_tails where file_id = c.id) as "tailBytes"
    from claimed c join file_destinations d on d.file_id = c.id join data_stores ds on ds.id = d.data_store_id`,
  )
}
