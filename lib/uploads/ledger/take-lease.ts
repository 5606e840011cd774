import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../db/database.ts'
import type { LeaseTerms } from './lease-terms.ts'

/** What the new writer finds. */
export type Taken = {
  fence: number
  offsetBytes: number
  lengthBytes: number | null
  crc32: number
  tailBytes: number
  partBytes: number | null
  /** The last number that an earlier writer may have used. */
  usedPartNumber: number
  multipartId: string | null
  resumed: boolean
  expirySeconds: number
  expiresAtMs: number
  expiresByMs: number
}

/** Of those that continued an upload, so many of the last are remembered past their end. */
const MAX_TOKENS = 100

/**
 * Takes the lease if nobody holds it, with the next `numbers` part numbers. Undefined if somebody does, or if
 * the file takes no more bytes. A lease that ran out was never given back, so its holder died: that is a resume. What
 * he staged goes.
 */
export async function takeLease(
  db: Db,
  { holder, leaseMs }: LeaseTerms,
  file: { fileId: string; tokenId: string | null; numbers: number },
): Promise<Taken | undefined> {
  const { fileId, tokenId, numbers } = file
  const [row] = await rows<Taken>(
    db,
    sql`
    with free as (
      select id, reserved_part_number as used, interrupted or lease_until is not null as resumed from files
      where id = ${fileId}::uuid and status = 'uploading' and (lease_until is null or lease_until < now())
      for update
    ), taken as (
      update files f set lease_holder = ${holder}, lease_fence = f.lease_fence + 1,
        lease_until = now() + ${leaseMs}::int * interval '1 millisecond',
        reserved_part_number = f.reserved_part_number + ${numbers}::int,
        interrupted = false,
        resume_count = f.resume_count + free.resumed::int,
        saved_bytes = f.saved_bytes + case when free.resumed then f.offset_bytes else 0 end,
        continued_by = case when ${tokenId}::uuid is null or f.token_id = ${tokenId}::uuid
          or ${tokenId}::uuid = any(f.continued_by) then f.continued_by
          else (f.continued_by || ${tokenId}::uuid)[greatest(cardinality(f.continued_by) - ${MAX_TOKENS - 2}::int, 1):] end
      from free where f.id = free.id
      returning f.*, free.used, free.resumed
    ), unstaged as (
      delete from upload_tails u using taken where u.file_id = taken.id and u.offset_bytes >= taken.offset_bytes
    )
    select t.lease_fence as "fence", t.offset_bytes as "offsetBytes", t.length_bytes as "lengthBytes", t.crc32,
      t.part_bytes as "partBytes", t.used as "usedPartNumber", t.resumed, d.multipart_id as "multipartId",
      t.expiry_seconds as "expirySeconds", floor(extract(epoch from t.expires_at) * 1000)::bigint as "expiresAtMs",
      floor(extract(epoch from t.expires_by) * 1000)::bigint as "expiresByMs",
      (select coalesce(sum(octet_length(bytes)), 0)::bigint from upload_tails u
        where u.file_id = t.id and u.offset_bytes < t.offset_bytes) as "tailBytes"
    from taken t join file_destinations d on d.file_id = t.id`,
  )
  return row
}
