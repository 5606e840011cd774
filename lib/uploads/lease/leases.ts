import { setTimeout as sleep } from 'node:timers/promises'
import { type DatabaseHandle, notify } from '../../platform/db/database.ts'
import { isOutage } from '../../platform/db/faults.ts'
import { type Clock, seconds } from '../../platform/kernel/clock.ts'
import { notNow, SluiceError } from '../../platform/kernel/errors.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type Release, readLease, releaseLease, type Taken, takeLease } from '../ledger/lease-rows.ts'
import { type Claim, type Fenced, LEASE_CHANNEL, newClaim } from '../ledger/lease-terms.ts'
import type { UploadTerms } from '../rules/upload-terms.ts'
import { type FreshlyTaken, HeldLease, type Lease } from './held-lease.ts'
import { startLeaseRenewal } from './lease-renewal.ts'
import { IncomingRequests, WakeUps } from './waiting-requests.ts'

/** Between attempts to release a lease after an outage, of which a node may have thousands. */
const MOST_PAUSE_MS = seconds(1)

type Deps = {
  database: DatabaseHandle
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'leasesTakenOver' | 'renewalsLate'>
  terms: UploadTerms
}

type Wanted = Parameters<typeof takeLease>[2]
type Taking = Pick<Fenced, 'rowId' | 'claim'>
/** A lease held by any node, as the file's row shows it. */
type Known = Omit<Fenced, 'claim'>
type TakenHere = Taken & { lease: Lease }

/**
 * Ensures that each file has one writer across all nodes. The lease in the file's row decides; this class manages
 * this process's leases. A newcomer asks the holder to stop, directly within the process or by NOTIFY, and waits. A
 * holder that is receiving bytes may continue for a moment: bytes that a client sent before it hung up are still
 * read, and two clients that compete for an upload take turns and both finish.
 */
export class Leases {
  readonly incoming = new IncomingRequests()
  readonly #deps: Deps
  readonly #held = new Map<string, HeldLease>()
  readonly #wakeUps = new WakeUps()
  readonly #stopRenewing: () => void
  #unlisten = async (): Promise<void> => {}
  #isDraining = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.#stopRenewing = startLeaseRenewal({ ...deps, db: deps.database.db }, this.#held)
  }

  /**
   * Takes the lease, waiting for its holder to release it, or until it expires if the holder has died: the client would
   * have to send its bytes again. Undefined if the file accepts no more bytes.
   */
  async take(file: Wanted): Promise<TakenHere | undefined> {
    let waited = false
    return this.#untilFree(file.rowId, this.#deps.terms.leaseMs, async () => {
      if (this.#isDraining) throw notNow('This node is stopping.')
      const taken = await this.#tryToTake(file, waited)
      if (taken) return taken
      const holder = await readLease(this.#deps.database.db, file.rowId)
      if (!holder) return undefined
      if (holder.leased) await this.#askHolder({ rowId: file.rowId, fence: holder.fence })
      waited = true
      return 'held'
    })
  }

  /** Creates a claim for a statement that does more than take a lease. */
  newClaim(): Claim {
    return newClaim(this.#deps.terms.leaseMs)
  }

  /** Calls `take`, whose statement may take a lease. If its response is lost, whatever it took is released. */
  async undoneIfLost<Result>(taking: Taking, take: () => Promise<Result>): Promise<Result> {
    try {
      return await take()
    } catch (error) {
      if (isOutage(error)) void this.#releaseLater(taking, { interrupted: false })
      throw error
    }
  }

  /** Registers a lease that another statement has taken. */
  adopt(fenced: FreshlyTaken): Lease {
    const { rowId } = fenced
    const lease = new HeldLease(fenced, {
      terms: this.#deps.terms,
      forget: (over) => this.#forget(over),
      releaseRow: (end: Release) => this.#releaseRow(fenced, end),
    })
    // If the database has granted the lease twice, this process's earlier lease is lost.
    this.#held.get(rowId)?.lose()
    this.#held.set(rowId, lease)
    if (this.#isDraining) lease.askToStop('draining')
    return lease
  }

  /** Asks the holder to stop and resolves when it has; throws `upload_locked` if it does not stop in time. */
  async waitUntilFree(fenced: Known): Promise<void> {
    await this.#untilFree(fenced.rowId, this.#deps.terms.waitMs, async () => {
      const holder = await readLease(this.#deps.database.db, fenced.rowId)
      if (!holder?.leased || holder.fence !== fenced.fence) return undefined
      await this.#askHolder(fenced)
      return 'held'
    })
  }

  async stop(): Promise<void> {
    this.#isDraining = true
    for (const lease of this.#held.values()) lease.askToStop('draining')
    await Promise.all([...this.#held.values()].map((lease) => lease.ended))
    this.#stopRenewing()
    await this.#unlisten()
  }

  async listen(): Promise<void> {
    this.#unlisten = await this.#deps.database.listen(LEASE_CHANNEL, (text) => this.#onNotification(text))
  }

  /**
   * Handles a notification that a file is free, or that its holder should stop. Null means that notifications may
   * have been lost.
   */
  #onNotification(text: string | null): void {
    const [kind, rowId = '', fence] = text?.split(':') ?? []
    const lease = this.#held.get(rowId)
    if (!kind) this.#wakeUps.wakeAll()
    else if (kind === 'free') this.#wakeUps.wake(rowId)
    else if (lease?.fence === Number(fence)) lease.askToStop('preempted')
  }

  async #tryToTake(file: Wanted, waited: boolean): Promise<TakenHere | undefined> {
    const { database, clock, metrics } = this.#deps
    const claim = this.newClaim()
    const taken = await this.undoneIfLost({ rowId: file.rowId, ...claim }, () =>
      takeLease({ db: database.db, clock }, claim, file),
    )
    if (!taken) return undefined
    if (taken.leaseLapsed) metrics.leasesTakenOver.inc({ how: 'lapsed' })
    else if (waited) metrics.leasesTakenOver.inc({ how: 'asked' })
    return { ...taken, lease: this.adopt({ ...claim, rowId: file.rowId, fence: taken.fence }) }
  }

  async #releaseRow(fenced: Fenced, end: Release): Promise<void> {
    const { database, clock } = this.#deps
    try {
      await releaseLease({ db: database.db, clock }, fenced, end)
    } catch (error) {
      void this.#releaseLater(fenced, end)
      throw error
    }
  }

  /**
   * Releases a lease once the database responds again, unless it has expired by then. The file's client usually returns
   * right after the database.
   */
  async #releaseLater(taking: Taking, end: Release): Promise<void> {
    const { database, clock, terms } = this.#deps
    const endsMs = performance.now() + terms.leaseMs
    for (let pauseMs = terms.pollMs; performance.now() < endsMs && !this.#isDraining; pauseMs *= 2) {
      await sleep(Math.min(pauseMs, MOST_PAUSE_MS), undefined, { ref: false })
      const isDone = await releaseLease({ db: database.db, clock }, taking, end).then(
        () => true,
        () => false,
      )
      if (isDone) return this.#wakeUps.wake(taking.rowId)
    }
  }

  /** Tries again on each notification that the file is free, and periodically. */
  async #untilFree<Result>(
    rowId: string,
    waitMs: number,
    look: () => Promise<Result | 'held'>,
  ): Promise<Result> {
    const deadlineMs = performance.now() + waitMs
    for (;;) {
      const next = this.#wakeUps.next(rowId, this.#deps.terms.pollMs)
      try {
        const result = await look()
        if (result !== 'held') return result
        if (performance.now() >= deadlineMs) throw stillLocked()
        await next.woken
      } finally {
        next.forget()
      }
    }
  }

  /** Repeated on every poll, because the holder may have missed an earlier request. */
  async #askHolder({ rowId, fence }: Known): Promise<void> {
    const here = this.#held.get(rowId)
    if (here?.fence === fence) return here.askToStop('preempted')
    await notify(this.#deps.database.db, LEASE_CHANNEL, `stop:${rowId}:${fence}`)
  }

  #forget(lease: HeldLease): void {
    const { rowId } = lease
    if (this.#held.get(rowId) === lease) this.#held.delete(rowId)
    this.#wakeUps.wake(rowId)
    // Whoever waits for the lease also asks for it again after a while, so a lost message only costs time.
    if (lease.wanted) void notify(this.#deps.database.db, LEASE_CHANNEL, `free:${rowId}`).catch(() => {})
  }
}

export async function openLeases(deps: Deps): Promise<Leases> {
  const leases = new Leases(deps)
  await leases.listen()
  return leases
}

function stillLocked(): SluiceError {
  return new SluiceError(
    'upload_locked',
    'Another request is writing to this upload. Try again in a moment.',
    {
      headers: { 'Retry-After': '1' },
    },
  )
}
