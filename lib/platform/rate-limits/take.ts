import { type SQL, sql } from 'drizzle-orm'
import { rows } from '../db/database.ts'
import { SluiceError } from '../kernel/errors.ts'
import type { Runtime } from '../runtime.ts'

/** A token bucket in the database, so that all nodes share it. */
export type RateLimit = { burst: number; refillMs: number }

/** Takes one, or throws `rate_limited` with the time until there is one again. */
export async function takeFromLimit(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
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

/** Whether there is none left, as an expression: for what is judged by a limit that something else takes from. */
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
