import { type SQL, sql } from 'drizzle-orm'
import { rows } from './db/database.ts'
import { SluiceError } from './kernel/errors.ts'
import type { CoreRuntime } from './runtime.ts'

/** A token bucket in the database, shared by all nodes. */
type RateLimit = { burst: number; refillMs: number }

/** Takes one token, or throws `rate_limited` with the time until the next one. */
export async function takeFromLimit(
  { db, clock }: CoreRuntime,
  key: string,
  { burst, refillMs }: RateLimit,
): Promise<void> {
  const now = instant(clock.now())
  const refilled = refilledBy({ burst, refillMs }, now)
  const taken = await rows(
    db,
    sql`
      insert into rate_limits (key, tokens, updated_at) values (${key}, ${burst - 1}, ${now})
      on conflict (key) do update set tokens = ${refilled} - 1, updated_at = greatest(${now}, rate_limits.updated_at)
      where ${refilled} >= 1
      returning key`,
  )
  if (taken.length > 0) return
  throw limitReached(refillMs)
}

/** An SQL expression that is true if no tokens are left, for checking a limit whose tokens other code takes. */
export function isSpent(key: SQL, limit: RateLimit, nowMs: number): SQL {
  return sql`exists (select from rate_limits where key = ${key} and ${refilledBy(limit, instant(nowMs))} < 1)`
}

export function limitReached(refillMs: number): SluiceError {
  const seconds = Math.ceil(refillMs / 1000)
  return new SluiceError('rate_limited', `Too many attempts. Try again in ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
  })
}

function refilledBy({ burst, refillMs }: RateLimit, now: SQL): SQL {
  return sql`least(${burst}::float8, rate_limits.tokens
    + greatest(0, extract(epoch from ${now} - rate_limits.updated_at)) * 1000 / ${refillMs}::float8)`
}

function instant(ms: number): SQL {
  return sql`${new Date(ms).toISOString()}::timestamptz`
}

/** The limit of an entire site, such as an office, is this many times the limit of a network. */
const NETWORKS_OF_SITE = 4

/** Takes one token for an address's network, and one for its entire site. */
export async function takeForAddress(
  runtime: CoreRuntime,
  what: string,
  address: string,
  limit: RateLimit,
): Promise<void> {
  await takeFromLimit(runtime, `${what}:address:${networkOf(address)}`, limit)
  const site = siteOf(address)
  if (site === undefined) return
  const ofSite = { burst: limit.burst * NETWORKS_OF_SITE, refillMs: limit.refillMs / NETWORKS_OF_SITE }
  await takeFromLimit(runtime, `${what}:site:${site}`, ofSite)
}

const GROUPS = 8

/**
 * The key of a per-address limit. With IPv6, a single customer has at least a /64, and so a practically unlimited
 * number of addresses.
 */
export function networkOf(address: string): string {
  return isIpv4(address) ? address : prefixOf(address, 64)
}

/** The /48 block assigned to a site, which contains 65,536 networks of size /64. Undefined for IPv4. */
export function siteOf(address: string): string | undefined {
  return isIpv4(address) ? undefined : prefixOf(address, 48)
}

/** Also true for an IPv4 address embedded in IPv6. */
const isIpv4 = (address: string) => !address.includes(':') || address.includes('.')

function prefixOf(address: string, bits: 48 | 64): string {
  const [head, tail] = address.split('::').map((half) => half.split(':').filter(Boolean)) as [
    string[],
    string[]?,
  ]
  const between = tail ? Array(Math.max(0, GROUPS - head.length - tail.length)).fill('0') : []
  const groups = [...head, ...between, ...(tail ?? [])].slice(0, bits / 16)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/${bits}`
}
