import { randomUUID } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { SluiceError } from '../../platform/kernel/errors.ts'

/**
 * Leases in SQL: what the statements that take, test, release or end one have in common. The conditions are on a row of
 * `files`, and the assignments for an update of `files f`.
 *
 * Whoever takes a lease makes a claim, and every write to the ledger names it. No claim is made twice, not even by one
 * process. So a writer whose lease was lost with the last commits of a database that failed over writes nothing, whoever
 * holds the file by then: its fence, which only counts, may come back; its claim cannot.
 *
 * Taken by: `takeLease`, `firstLeases`, `insertsUploads`, `insertFinal`, `claimTransferring`, `takeForRepair`.
 * Ended by its holder: `releaseLease`, `advance` with the last piece, and the three functions of `transferred.ts`.
 * Ended by others: `recordEnd`, for an upload that fails, expires or is canceled; `dropLeases` and `dropLapsedLeases`, for a
 * database that was promoted or restored; or by time.
 */
export type Claim = { claim: string; leaseMs: number }

export function newClaim(leaseMs: number): Claim {
  return { claim: randomUUID(), leaseMs }
}

/** The lease of one writer. `fence` is how often the file's lease had been taken then. */
export type Fenced = { fileId: string; fence: number; claim: string }

export const LEASE_CHANNEL = 'sluice_lease'

/** Nobody is writing the file. */
export const isFree: SQL = sql`(lease_until is null or lease_until < now())`

/** Somebody is writing the file. */
export const isLeased: SQL = sql`coalesce(lease_until > now(), false)`

/**
 * This writer still holds its lease. It does not check `lease_until > now()`: even after the lease has expired, its holder
 * may write until somebody takes it over.
 */
export function heldBy({ claim }: { claim: string | SQL }): SQL {
  return sql`${lastHeldBy({ claim })} and lease_until is not null`
}

/** Nobody has taken the lease since this writer, which may have released it. */
export function lastHeldBy({ claim }: { claim: string | SQL }): SQL {
  return sql`lease_holder = ${claim}`
}

/** The next request resumes: the client was interrupted, or the last lease was not released, so its holder died. */
export const wasInterrupted: SQL = sql`(interrupted or lease_until is not null)`

/** In a column of text and one of milliseconds, or as values. */
type ClaimSql = { claim: string | SQL; leaseMs: number | SQL }

/**
 * Takes the lease. Nodes of commit 757d55c believe what part numbers are bound to only if `bound_fence` has the last fence;
 * the column goes in the release after this one.
 */
export function taken({ claim, leaseMs }: ClaimSql): SQL {
  return sql`lease_holder = ${claim}, lease_fence = f.lease_fence + 1, bound_fence = f.lease_fence + 1,
    lease_until = ${until(leaseMs)}`
}

/**
 * The same for an insert; without a claim, nobody holds the lease of the new file. Nodes of commit 757d55c take a first lease
 * by `bound_fence`, and must not know of files with several destinations.
 */
export const LEASE_COLUMNS: SQL = sql.raw('lease_holder, lease_fence, bound_fence, lease_until')
export function leaseValues({ claim, leaseMs }: ClaimSql, hasOneDestination: SQL = sql`true`): SQL {
  const fence = sql`(${claim}::text is not null)::int`
  return sql`${claim}, ${fence}, case when ${hasOneDestination} then ${fence} end, ${until(leaseMs)}`
}

/** Until when a lease lasts without being renewed, by the clock of the database. */
export function until(leaseMs: number | SQL): SQL {
  return sql`now() + ${leaseMs}::int * interval '1 millisecond'`
}

/** The holder gives up the lease, and is remembered as the last one. */
export const released: SQL = sql`lease_until = null`

/** Takes the lease away from whoever holds it. */
export const revoked: SQL = sql`lease_holder = null, lease_until = null, lease_fence = f.lease_fence + 1`

/** For a writer that was presumed dead, or whose upload was ended: bytes that it has not recorded do not count. */
export function lostLease(): SluiceError {
  return new SluiceError(
    'upload_locked',
    'Another request has taken over this upload. Ask for its offset again.',
  )
}
