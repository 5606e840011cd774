import { type SQL, sql } from 'drizzle-orm'
import { SluiceError } from '../../platform/kernel/errors.ts'

/** How long a lease holds without being renewed, on the clock of the database. */
export type LeaseHolder = { holder: string; leaseMs: number }

/** One writer's right to a file. `fence` grows each time the lease is taken, and every write to the ledger names it. */
export type Fenced = { fileId: string; fence: number }

export const LEASE_CHANNEL = 'sluice_lease'

/**
 * A condition on a row of `files`: this writer still holds its lease. Not `lease_until > now()`: until somebody takes an
 * expired lease over, which raises the fence, what its holder writes is still good.
 */
export function heldBy({ fence }: { fence: number | SQL }): SQL {
  return sql`lease_fence = ${fence}::int and lease_until is not null`
}

/** The writer was taken for dead, or the upload ended under it: nothing that it still holds may count. */
export function lostLease(): SluiceError {
  return new SluiceError(
    'upload_locked',
    'Another request has taken over this upload. Ask for its offset again.',
  )
}

/** An assignment for each new lease of a file `f`: its holder can decrypt the tail. */
export const sealedFence = sql`sealed_fence = case when f.sealed_fence is not null then f.lease_fence + 1 end`
