import { randomUUID } from 'node:crypto'
import type { Db } from '../../platform/db/database.ts'
import { type Clock, seconds } from '../../platform/kernel/clock.ts'
import { releaseLease } from '../ledger/release-lease.ts'
import { takeLease } from '../ledger/take-lease.ts'
import { UPLOAD_TERMS } from '../rules/upload-terms.ts'
import { HeldLease, type Lease } from './held-lease.ts'

const LEASE_MS = seconds(30)

/** For a script that works on one upload after another while nodes may be running. Undefined if the lease is taken. */
export async function withLease<Result>(
  { db, clock }: { db: Db; clock: Clock },
  fileId: string,
  work: (lease: Lease) => Promise<Result>,
): Promise<Result | undefined> {
  const sentAtMs = clock.now()
  const holder = { holder: randomUUID(), leaseMs: LEASE_MS }
  const taken = await takeLease(db, holder, { fileId, tokenId: null, plan: undefined })
  if (!taken) return undefined
  const fenced = { fileId, fence: taken.fence }
  const lease = new HeldLease(fenced, sentAtMs, {
    clock,
    terms: { ...UPLOAD_TERMS, leaseMs: LEASE_MS },
    forget() {},
    releaseRow: (end) => releaseLease({ db, clock }, fenced, end),
  })
  try {
    return await work(lease)
  } finally {
    await lease.release({ interrupted: true })
  }
}
