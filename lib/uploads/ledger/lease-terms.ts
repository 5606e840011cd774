/** How long a lease holds without being renewed, on the clock of the database. */
export type LeaseTerms = { holder: string; leaseMs: number }

/** One writer's right to a file. `fence` grows with each taking, and every write of the ledger names it. */
export type Fenced = { fileId: string; fence: number }

export const LEASE_CHANNEL = 'sluice_lease'
