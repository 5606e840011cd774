import { type SQL, sql } from 'drizzle-orm'
import type { FileProtocol } from '#drizzle/schema/index.ts'
import { isSuspended } from '../../identity/suspension.ts'
import { currentRequest } from '../../platform/kernel/request-context.ts'
import { mayUsePipe, mayUseSource, WITH_GROUP } from '../../workspace/senders/limits.ts'
import { USUAL_PART_BYTES } from '../rules/part-plan.ts'
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

/**
 * Two steps of a statement that starts with a step named `asked`. Locked rows are skipped: other requests share this
 * statement and must not wait for them. The limits make PostgreSQL look up each row by index, whatever row count the
 * planner estimates.
 */
export function firstLeases(now: SQL): SQL {
  return sql`free as (
      select asked.*, f.id, t.id as token_id from asked
      cross join lateral (select * from tokens where token_hash = asked.hash and pipe_id = asked.pipe
        and revoked_at is null and not ${isSuspended(sql`tokens.workspace_id`)} limit 1) t
      join senders s on s.id = t.sender_id and s.revoked_at is null ${WITH_GROUP}
      join pipes p on p.id = t.pipe_id and (asked.origin is null or p.allowed_origins = '{}'
        or asked.origin = any(p.allowed_origins)) and ${mayUsePipe(sql`p.id`)} and ${mayUseSource('http')}
      cross join lateral (select * from files where id = asked.file and pipe_id = t.pipe_id
        and protocol = asked.protocol and lanes is null and lane_of is null and status = 'uploading' and lease_fence = 0 and lease_until is null
        and length_bytes = asked.bytes and reserved_bytes = asked.bytes and expires_at > ${now}
        and (token_id = t.id or (t.expires_at > ${now} and sender_id = t.sender_id
          and subject is not distinct from t.subject))
        limit 1 for update skip locked) f
    ), first as (
      update files f set ${taken({ claim: sql`free.claim`, leaseMs: sql`free.lease_ms` })},
        last_request_id = free.request_id, last_traceparent = free.traceparent,
        continued_by = case when f.token_id = free.token_id then f.continued_by else array[free.token_id] end
      from free where f.id = free.id returning free.n, f.expiry_seconds, f.expires_by
    )`
}

export const firstColumn = sql`case when first.n is null then null else json_build_object(
    'expirySeconds', first.expiry_seconds,
    'expiresByMs', floor(extract(epoch from first.expires_by) * 1000)::bigint) end as first`
