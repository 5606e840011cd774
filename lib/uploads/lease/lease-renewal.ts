import type { Db } from '../../platform/db/database.ts'
import { atMost } from '../../platform/kernel/waits.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { renewLeases } from '../ledger/lease-rows.ts'
import type { UploadTerms } from '../rules/upload-terms.ts'
import type { HeldLease } from './held-lease.ts'

type Deps = {
  db: Db
  log: Logger
  metrics: Pick<Metrics, 'renewalsLate'>
  terms: UploadTerms
}

const WATCH_MS = 250
/** A renewal locks all its rows, and the writers of those files wait for it, so batches are small. */
const RENEWED_TOGETHER = 50
const RENEWALS_AT_ONCE = 4
/** After this time, a batch no longer delays other batches. */
const RENEWAL_PATIENCE_MS = 2000

/** Renews this process's leases, and marks expired ones as lost. Returns a function that stops it. */
export function startLeaseRenewal(deps: Deps, held: ReadonlyMap<string, HeldLease>): () => void {
  const renewing = setInterval(() => void renewDue(deps, held), deps.terms.renewMs).unref()
  const watching = setInterval(() => {
    for (const lease of held.values()) lease.watch()
  }, WATCH_MS).unref()
  return () => {
    clearInterval(renewing)
    clearInterval(watching)
  }
}

async function renewDue(deps: Deps, held: ReadonlyMap<string, HeldLease>): Promise<void> {
  const due = [...held.values()].filter((lease) => lease.isDue())
  const limit = atMost(RENEWALS_AT_ONCE, RENEWAL_PATIENCE_MS)
  const groups = []
  for (let from = 0; from < due.length; from += RENEWED_TOGETHER)
    groups.push(due.slice(from, from + RENEWED_TOGETHER))
  const ends = await Promise.allSettled(groups.map((group) => limit(() => renewTogether(deps, held, group))))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) deps.log.warn({ err: failed.reason }, 'could not renew leases')
}

async function renewTogether(
  { db, metrics, terms }: Deps,
  held: ReadonlyMap<string, HeldLease>,
  group: HeldLease[],
): Promise<void> {
  const isHeld = (lease: HeldLease) => held.get(lease.rowId) === lease
  const leases = group.filter((lease) => isHeld(lease) && lease.isDue())
  if (leases.length === 0) return
  const sentAtMs = performance.now()
  const renewed = await renewLeases(db, leases, terms.leaseMs)
  for (const lease of leases) {
    const ours = renewed.get(lease.rowId)
    if (ours) {
      if (lease.renewed(sentAtMs)) metrics.renewalsLate.inc()
      if (ours.suspended) lease.askToStop('suspended')
    } else if (isHeld(lease)) lease.lose()
  }
}
