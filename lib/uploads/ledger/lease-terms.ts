import { type SQL, sql } from 'drizzle-orm'
import { SluiceError } from '../../platform/kernel/errors.ts'

/** Who takes leases, and how long they last without being renewed, by the clock of the database. */
export type LeaseHolder = { holder: string; leaseMs: number }

/**
 * The lease of one writer. `fence` grows each time the file's lease is taken, and every write to the ledger checks it.
 */
export type Fenced = { fileId: string; fence: number }

export const LEASE_CHANNEL = 'sluice_lease'

/**
 * A condition on a row of `files`: this writer still holds its lease. It does not check `lease_until > now()`: even
 * after the lease has expired, its holder may write until somebody takes it over, which raises the fence.
 */
export function heldBy({ fence }: { fence: number | SQL }): SQL {
  return sql`lease_fence = ${fence}::int and lease_until is not null`
}

/** For a writer that was presumed dead, or whose upload was ended: bytes that it has not recorded do not count. */
export function lostLease(): SluiceError {
  return new SluiceError(
    'upload_locked',
    'Another request has taken over this upload. Ask for its offset again.',
  )
}

/** An assignment for each statement that takes the lease of a file `f`: the new holder can decrypt the tail. */
export const sealedFence = sql`sealed_fence = case when f.sealed_fence is not null then f.lease_fence + 1 end`
