import { type SQL, sql } from 'drizzle-orm'

/** How long a lease holds without being renewed, on the clock of the database. */
export type LeaseTerms = { holder: string; leaseMs: number }

/** One writer's right to a file. `fence` grows with each taking, and every write of the ledger names it. */
export type Fenced = { fileId: string; fence: number }

export const LEASE_CHANNEL = 'sluice_lease'

/** Of a row of `files`: nobody has taken it over. */
export function heldBy({ fence }: Fenced): SQL {
  return sql`lease_fence = ${fence}::int and lease_until is not null`
}

/** Assigned with each new lease of a file `f`: its holder can open what is encrypted of the tail. */
export const sealedFence = sql`sealed_fence = case when f.sealed_fence is not null then f.lease_fence + 1 end`
