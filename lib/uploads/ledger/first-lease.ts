import { type SQL, sql } from 'drizzle-orm'
import type { FileProtocol } from '#drizzle/schema/index.ts'
import { currentRequest } from '../../platform/kernel/request-context.ts'
import { USUAL_PART_BYTES } from '../../upload-memory/part-sizes.ts'
import { mayUsePipe, mayUseSource } from '../../workspace/senders/limits.ts'
import { type Claim, taken } from './lease-terms.ts'

/**
 * The first lease on an upload, for a request that contains all its bytes. It is taken by the statement that checks
 * the token: such a file is stored by a single PutObject, without planned parts or bound numbers, so nothing about
 * the bucket has to be known first. Unusual cases are left to `takeLease`. This saves a third of the CPU time that a
 * file of 4 KiB costs in a POST and a PATCH.
 */
export type FirstLease = { claim: Claim; expirySeconds: number; expiresByMs: number }

/** What is known about a request before its token is checked. */
export type WholeRequest = {
  bytes: number
  origin: string | null
  protocol: FileProtocol
  claim: Claim
}

export function isWhole({ offsetBytes, bytes }: { offsetBytes: number; bytes: number }): boolean {
  return offsetBytes === 0 && bytes > 0 && bytes <= USUAL_PART_BYTES
}

/** The columns of `asked` other than those that identify the token and the upload. */
export function askedOf({ bytes, origin, protocol, claim }: WholeRequest) {
  const request = currentRequest()
  return {
    bytes,
    origin,
    protocol,
    claim: claim.claim,
    lease_ms: claim.leaseMs,
    request_id: request?.id ?? null,
    traceparent: request?.traceparent ?? null,
  }
}

export const ASKED_COLUMNS =
  sql.raw(`pipe text, bytes bigint, origin text, protocol text, claim text, lease_ms int, request_id text,
  traceparent text`)

/** Whether the request may take the lease, from the rows looked up for `asked`. */
export function mayTakeFirst(now: SQL): SQL {
  return sql`asked.pipe = p.id and t.revoked_at is null and s.revoked_at is null
    and (asked.origin is null or p.allowed_origins = '{}' or asked.origin = any(p.allowed_origins))
    and ${mayUsePipe(sql`p.id`)} and ${mayUseSource('http')}
    and f.protocol = asked.protocol and f.lane_of is null and f.expires_at > ${now}
    and f.length_bytes = asked.bytes and f.reserved_bytes = asked.bytes`
}

/**
 * Two steps of a statement after `asked` and `found`, which has looked up the token and the upload. Under the lock, the
 * upload must still be as it was found. Locked rows are skipped: other requests share this statement and must not wait
 * for them.
 *
 * PostgreSQL looks up each row of `files` by its id, whatever the statistics say: the limit and the comparison with a
 * constant make it expect a single row, and it cannot use the index of open uploads for a status that it does not know.
 */
export function firstLeases(): SQL {
  return sql`free as (
      select asked.*, f.id, found."tokenId" from found join asked using (n)
      cross join lateral (select id from files where id = asked.file and status = found.status
        and lanes is null and lease_fence = 0 and lease_until is null limit 1 for update skip locked) f
      where found.status = 'uploading' and found."mayTakeFirst" and not found.suspended
        and (found.own or found."sameUploader" and not found."tokenExpired")
    ), first as (
      update files f set ${taken({ claim: sql`free.claim`, leaseMs: sql`free.lease_ms` })},
        last_request_id = free.request_id, last_traceparent = free.traceparent,
        continued_by = case when f.token_id = free."tokenId" then f.continued_by else array[free."tokenId"] end
      from free where f.id = free.id returning free.n, f.expiry_seconds, f.expires_by
    )`
}

export const firstColumn = sql`case when first.n is null then null else json_build_object(
    'expirySeconds', first.expiry_seconds,
    'expiresByMs', floor(extract(epoch from first.expires_by) * 1000)::bigint) end as first`
