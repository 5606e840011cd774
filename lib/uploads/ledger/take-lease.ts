import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { currentRequest } from '../../platform/kernel/request-context.ts'
import type { Bound } from '../rules/part-numbers.ts'
import { bigints } from './bound-columns.ts'
import { type LeaseHolder, sealedFence } from './lease-terms.ts'
import { tailBytes } from './tail-bytes.ts'

/** What the new writer finds in the ledger. */
export type Taken = {
  fence: number
  offsetBytes: number
  lengthBytes: number | null
  crc32: number
  tailBytes: number
  partBytes: number | null
  /** The part numbers that earlier writers left bound. */
  bound: Bound
  /** The row was as the plan assumed, so the planned parts are bound. */
  planned: boolean
  multipartId: string | null
  resumed: boolean
  /** The lease before this one expired instead of being released: its holder died. */
  leaseLapsed: boolean
  /** The reserved quota was returned, since no bytes had arrived for an hour. */
  reservationLapsed: boolean
  expirySeconds: number
  expiresAtMs: number
  expiresByMs: number
}

/** What the writer wants to bind with the lease, and the state of the upload that this assumes. */
export type LeasePlan = { fence: number; offsetBytes: number; bound: Bound; boundEnds: readonly number[] }

/** How many tokens that continued the upload are remembered: the last ones. */
const MAX_TOKENS = 100

/**
 * Takes the lease if nobody holds it, and binds the planned parts to their numbers if the upload is still as the plan
 * assumed. Undefined if somebody holds it, or if the file takes no more bytes. If the previous lease expired without
 * being released, its holder died: taking over from it counts as a resume, and bytes that it staged are deleted.
 *
 * A lease without `bound_fence` was taken by a version of Sluice that did not bind numbers to bytes. What it sent is
 * unknown, so this writer starts above all numbers it had reserved.
 */
export async function takeLease(
  db: Db,
  { holder, leaseMs }: LeaseHolder,
  file: { fileId: string; tokenId: string | null; plan: LeasePlan | undefined },
): Promise<Taken | undefined> {
  const { fileId, tokenId, plan } = file
  const request = currentRequest()
  const [row] = await rows<Taken>(
    db,
    sql`
    with free as (
      select f.id, interrupted or lease_until is not null as resumed, lease_until is not null as lease_lapsed,
        coalesce(bound_fence = lease_fence, false) as known, ${fits(plan)} as planned from files f
      where id = ${fileId}::uuid and status = 'uploading' and (lease_until is null or lease_until < now())
      for update
    ), tail as (
      select coalesce(sum(${tailBytes}), 0)::bigint as bytes from upload_tails u, files f
      where f.id = ${fileId}::uuid and u.file_id = f.id and u.offset_bytes < f.offset_bytes
        and f.bound_fence is distinct from f.lease_fence
    ), taken as (
      update files f set lease_holder = ${holder}, lease_fence = f.lease_fence + 1,
        lease_until = now() + ${leaseMs}::int * interval '1 millisecond',
        bound_fence = f.lease_fence + 1, ${sealedFence},
        recorded_parts = case when free.known then f.recorded_parts else f.reserved_part_number end,
        recorded_bytes = case when free.known then f.recorded_bytes else f.offset_bytes - tail.bytes end,
        bound_ends = case when free.planned then ${bigints(plan?.boundEnds ?? [])}
          when free.known then f.bound_ends else '{}' end,
        reserved_part_number = case when free.planned
          then f.recorded_parts + ${plan?.boundEnds.length ?? 0}::int else f.reserved_part_number end,
        interrupted = false,
        last_request_id = ${request?.id ?? null}, last_traceparent = ${request?.traceparent ?? null},
        resume_count = f.resume_count + free.resumed::int,
        saved_bytes = f.saved_bytes + case when free.resumed then f.offset_bytes else 0 end,
        continued_by = ${continuedBy(tokenId)}
      from free, tail where f.id = free.id
      returning f.*, free.planned, free.resumed, free.lease_lapsed
    ), unstaged as (
      delete from upload_tails u using taken where u.file_id = taken.id and u.offset_bytes >= taken.offset_bytes
    )
    select t.lease_fence as "fence", t.offset_bytes as "offsetBytes", t.length_bytes as "lengthBytes", t.crc32,
      t.part_bytes as "partBytes", t.planned, t.resumed, t.lease_lapsed as "leaseLapsed",
      coalesce(t.reserved_bytes = 0 and t.offset_bytes < t.length_bytes, false) as "reservationLapsed",
      json_build_object('recordedParts', t.recorded_parts, 'recordedBytes', t.recorded_bytes, 'boundEnds', t.bound_ends) as bound, d.multipart_id as "multipartId",
      t.expiry_seconds as "expirySeconds", floor(extract(epoch from t.expires_at) * 1000)::bigint as "expiresAtMs",
      floor(extract(epoch from t.expires_by) * 1000)::bigint as "expiresByMs",
      t.offset_bytes - t.recorded_bytes as "tailBytes"
    from taken t join file_destinations d on d.file_id = t.id`,
  )
  return row
}

/** The last tokens that continued the upload, without the one that created it. */
function continuedBy(tokenId: string | null): SQL {
  return sql`case when ${tokenId}::uuid is null or f.token_id = ${tokenId}::uuid
      or ${tokenId}::uuid = any(f.continued_by) then f.continued_by
    else (f.continued_by || ${tokenId}::uuid)[greatest(cardinality(f.continued_by) - ${MAX_TOKENS - 2}::int, 1):] end`
}

function fits(plan: LeasePlan | undefined): SQL {
  if (!plan) return sql`false`
  const { fence, offsetBytes, bound } = plan
  return sql`(f.lease_fence = ${fence}::int and f.bound_fence = f.lease_fence and f.offset_bytes = ${offsetBytes}::bigint
    and f.recorded_parts = ${bound.recordedParts}::int and f.bound_ends = ${bigints(bound.boundEnds)})`
}
