import { type SQL, sql } from 'drizzle-orm'
import { currentRequest } from '../../platform/kernel/request-context.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'

/**
 * Records sign-ins, and those that were refused, with the Sender whose credential was used: at most one of each kind per
 * second, so that neither a busy nor a broken device keeps its row locked.
 */

/** Notes that a Sender has signed in. */
export async function noteSignIn({ db, clock }: CoreRuntime, senderId: string): Promise<void> {
  const now = sql`${new Date(clock.now()).toISOString()}::timestamptz`
  await db.execute(sql`update senders set last_used_at = ${now}, last_address = ${addressOr(sql`last_address`)}
    where id = ${senderId}::uuid and (last_used_at is null or last_used_at < ${now} - interval '1 second')`)
}

/** Notes a refusal. `which` is a condition on a row `s` of `senders`. */
export async function noteRefusal({ db, clock }: CoreRuntime, which: SQL): Promise<void> {
  const now = sql`${new Date(clock.now()).toISOString()}::timestamptz`
  await db.execute(sql`update senders s set refused_count = s.refused_count + 1, refused_at = ${now}
    where ${which} and (s.refused_at is null or s.refused_at < ${now} - interval '1 second')`)
}

/** The address of the current request's client if it is known, or the previous one. */
export const addressOr = (previous: SQL): SQL =>
  sql`coalesce(${currentRequest()?.client ?? null}::text, ${previous})`
