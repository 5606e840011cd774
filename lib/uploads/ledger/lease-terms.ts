import { randomUUID } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { SluiceError } from '../../platform/kernel/errors.ts'

/**
 * Leases in SQL: common code for the statements that take, test, release or end one. The conditions apply to a row of
 * `files`, and the assignments to an update of `files f`.
 *
 * Each acquisition of a lease creates a claim, and every write that moves or ends a file names it. No claim is created
 * twice, not even by the same process. So if a failover lost the last commits made under a lease, its writer can write nothing, no
 * matter who holds the lease by then: the fence is a plain counter and may repeat, but a claim cannot.
 *
 * A lease that is not renewed expires.
 */
export type Claim = {
  claim: string
  leaseMs: number
  /** When it was created, on the clock that is never set: the lease it takes lasts from then on. */
  madeMs: number
}

export function newClaim(leaseMs: number): Claim {
  return { claim: randomUUID(), leaseMs, madeMs: performance.now() }
}

/**
 * One writer's lease on a row of `files`: a file, or a lane of one. `fence` is how many times the row's lease had been
 * taken by then, including this time.
 */
export type Fenced = { rowId: string; fence: number; claim: string }

export const LEASE_CHANNEL = 'sluice_lease'

/** Nobody is writing the file. */
export const isFree: SQL = sql`(lease_until is null or lease_until < now())`

/** The file is being written. */
export const isLeased: SQL = sql`coalesce(lease_until > now(), false)`

/**
 * This writer still holds its lease. Does not check `lease_until > now()`: even after the lease has expired, its
 * holder may write until it is taken over.
 */
export function heldBy({ claim }: { claim: string | SQL }): SQL {
  return sql`${lastHeldBy({ claim })} and lease_until is not null`
}

/** Nobody has taken the lease since this writer did. The writer may have released it. */
export function lastHeldBy({ claim }: { claim: string | SQL }): SQL {
  return sql`lease_holder = ${claim}`
}

/**
 * True if the next request is a resume: either the client was interrupted, or the last lease was never released
 * because its holder died.
 */
export const wasInterrupted: SQL = sql`(interrupted or lease_until is not null)`

/** Either SQL expressions, such as columns, or values; the claim is text. */
type ClaimSql = { claim: string | SQL; leaseMs: number | SQL }

/** Takes the lease. */
export function taken({ claim, leaseMs }: ClaimSql): SQL {
  return sql`lease_holder = ${claim}, lease_fence = f.lease_fence + 1, lease_until = ${until(leaseMs)}`
}

/** Like `taken`, for an insert. Without a claim, nobody holds the new file's lease. */
export const LEASE_COLUMNS: SQL = sql.raw('lease_holder, lease_fence, lease_until')
export function leaseValues({ claim, leaseMs }: ClaimSql): SQL {
  return sql`${claim}, (${claim}::text is not null)::int, ${until(leaseMs)}`
}

/** When a lease expires that is not renewed, by the database's clock. */
export function until(leaseMs: number | SQL): SQL {
  return sql`now() + ${leaseMs}::int * interval '1 millisecond'`
}

/** The holder releases the lease, and remains recorded as its last holder. */
export const released: SQL = sql`lease_until = null`

/** Takes the lease away from its holder. */
export const revoked: SQL = sql`lease_holder = null, lease_until = null, lease_fence = f.lease_fence + 1`

/** The error for a writer that was presumed dead, or whose upload was ended. Its unrecorded bytes are lost. */
export function lostLease(): SluiceError {
  return new SluiceError(
    'upload_locked',
    'Another request has taken over this upload. Request its offset again.',
  )
}
