import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { type DatabaseHandle, notify, rows } from '../../platform/db/database.ts'
import { atMost } from '../../platform/kernel/at-most.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { type Fenced, LEASE_CHANNEL, type LeaseTerms } from '../ledger/lease-terms.ts'
import { type Release, releaseLease } from '../ledger/release-lease.ts'
import { renewLeases } from '../ledger/renew-leases.ts'
import { type LeasePlan, type Taken, takeLease } from '../ledger/take-lease.ts'
import type { UploadTerms } from '../upload-terms.ts'
import { createHeldLease, type HeldLease, type Lease } from './held-lease.ts'

/**
 * One writer for each file, over all nodes. The truth is the lease in the file's row; here is what this process holds
 * of it. A newcomer asks the holder to stop, by a word within the process or by NOTIFY, and waits. A holder whose
 * bytes are flowing has a last turn first: what a client sent before it hung up is read, and two clients that fight over
 * an upload carry it on in turns and both come to its end.
 */
export type Leases = {
  terms: LeaseTerms
  /** Waits for the holder. Undefined if the file takes no more bytes. */
  take(file: {
    fileId: string
    tokenId: string | null
    plan: LeasePlan | undefined
  }): Promise<(Taken & { lease: Lease }) | undefined>
  /** A lease that a statement took which was sent at `sinceMs`. */
  adopt(fenced: Fenced, sinceMs: number): Lease
  /** A request is on its way to the lease. Call the answer when it has it, or gave up. */
  arrive(fileId: string): () => void
  /** Resolves when no request of this node is on its way any more: what it brought shows in the offset. */
  arrived(fileId: string): Promise<void>
  /** Asks the holder to stop and resolves when it did; throws `upload_locked` if it does not in time. */
  waitUntilFree(held: Fenced): Promise<void>
  stop(): Promise<void>
}

type Deps = {
  database: DatabaseHandle
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'leasesTakenOver' | 'renewalsLate'>
  terms: UploadTerms
}

const WATCH_MS = 250
/** A statement of them holds the rows that their writers want to write, and waits for those that these hold. */
const RENEWED_TOGETHER = 50
const RENEWALS_AT_ONCE = 4
/** A group that takes so long hangs, and must not keep the others from theirs. */
const RENEWAL_PATIENCE_MS = 2000

export async function openLeases({ database, clock, log, metrics, terms }: Deps): Promise<Leases> {
  const { db } = database
  const row: LeaseTerms = { holder: randomUUID(), leaseMs: terms.leaseMs }
  const held = new Map<string, HeldLease>()
  const waiting = new Map<string, Set<() => void>>()
  const arriving = new Map<string, Set<Promise<void>>>()
  let draining = false

  const wake = (fileId: string) => {
    for (const look of waiting.get(fileId) ?? []) look()
  }
  const unlisten = await database.listen(LEASE_CHANNEL, (payload) => {
    if (payload === null) return [...waiting.keys()].forEach(wake)
    const [word, fileId = '', fence] = payload.split(':')
    if (word === 'free') return wake(fileId)
    const lease = held.get(fileId)
    if (lease && lease.fence === Number(fence)) lease.ask('preempted')
  })
  const hold = (fenced: Fenced, sinceMs: number): Lease => {
    const forget = () => {
      if (held.get(fenced.fileId) === lease) held.delete(fenced.fileId)
      wake(fenced.fileId)
      if (lease.wanted) void notify(db, LEASE_CHANNEL, `free:${fenced.fileId}`).catch(() => {})
    }
    const releaseRow = (end: Release) => releaseLease({ db, clock }, fenced, end)
    const lease = createHeldLease(fenced, sinceMs, { clock, terms, forget, releaseRow })
    held.set(fenced.fileId, lease)
    if (draining) lease.ask('draining')
    return lease
  }
  /** Asked with each look: it may not have heard yet that it holds, and hears nothing of this then. */
  const askHolder = async ({ fileId, fence }: Fenced) => {
    const here = held.get(fileId)
    if (here?.fence === fence) return here.ask('preempted')
    await notify(db, LEASE_CHANNEL, `stop:${fileId}:${fence}`)
  }
  const renew = async () => {
    const due = [...held.values()].filter((lease) => lease.isDue())
    const turn = atMost(RENEWALS_AT_ONCE, RENEWAL_PATIENCE_MS)
    const groups = []
    for (let from = 0; from < due.length; from += RENEWED_TOGETHER)
      groups.push(due.slice(from, from + RENEWED_TOGETHER))
    const ends = await Promise.allSettled(groups.map((group) => turn(() => renewTogether(group))))
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed) log.warn({ err: failed.reason }, 'leases could not be renewed')
  }
  const renewTogether = async (group: HeldLease[]) => {
    const leases = group.filter((lease) => held.get(lease.fileId) === lease && lease.isDue())
    if (leases.length === 0) return
    const sentAt = clock.now()
    const renewed = await renewLeases(db, row, leases)
    for (const lease of leases) {
      if (renewed.has(lease.fileId)) {
        if (lease.renewed(sentAt)) metrics.renewalsLate.inc()
      } else if (held.get(lease.fileId) === lease) lease.lose()
    }
  }
  const renewing = setInterval(() => void renew(), terms.renewMs)
  const watching = setInterval(() => {
    for (const lease of held.values()) lease.watch()
  }, WATCH_MS)
  renewing.unref()
  watching.unref()

  /** Tries again on each word that the file is free, and from time to time. */
  const untilFree = async <Result>(fileId: string, look: () => Promise<Result | 'held'>): Promise<Result> => {
    const deadline = clock.now() + terms.waitMs
    for (;;) {
      const freed = nextWord(waiting, fileId, terms.pollMs)
      try {
        const result = await look()
        if (result !== 'held') return result
        if (clock.now() >= deadline) throw stillLocked()
        await freed.word
      } finally {
        freed.forget()
      }
    }
  }

  return {
    terms: row,
    adopt: hold,
    async take(file) {
      let waited = false
      return untilFree(file.fileId, async () => {
        if (draining)
          throw new SluiceError('unavailable', 'This node is stopping.', { headers: { 'Retry-After': '1' } })
        const sentAt = clock.now()
        const taken = await takeLease(db, row, file)
        if (taken) {
          if (waited) metrics.leasesTakenOver.inc({ how: 'asked' })
          else if (taken.resumed) metrics.leasesTakenOver.inc({ how: 'lapsed' })
          return { ...taken, lease: hold({ fileId: file.fileId, fence: taken.fence }, sentAt) }
        }
        const holder = await holderOf(file.fileId)
        if (!holder) return undefined
        if (holder.leased) await askHolder({ fileId: file.fileId, fence: holder.fence })
        waited = true
        return 'held'
      })
    },
    arrive(fileId) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const on = arriving.get(fileId) ?? new Set()
      arriving.set(fileId, on.add(promise))
      return () => {
        resolve()
        on.delete(promise)
        if (on.size === 0) arriving.delete(fileId)
      }
    },
    async arrived(fileId) {
      await Promise.all(arriving.get(fileId) ?? [])
    },
    async waitUntilFree(fenced) {
      await untilFree(fenced.fileId, async () => {
        const holder = await holderOf(fenced.fileId)
        if (!holder?.leased || holder.fence !== fenced.fence) return undefined
        await askHolder(fenced)
        return 'held'
      })
    },
    async stop() {
      draining = true
      for (const lease of held.values()) lease.ask('draining')
      await Promise.all([...held.values()].map((lease) => lease.ended))
      clearInterval(renewing)
      clearInterval(watching)
      await unlisten()
    },
  }

  async function holderOf(fileId: string): Promise<{ fence: number; leased: boolean } | undefined> {
    const [found] = await rows<{ fence: number; leased: boolean }>(
      db,
      sql`select lease_fence as fence, coalesce(lease_until > now(), false) as leased from files
        where id = ${fileId}::uuid and status = 'uploading'`,
    )
    return found
  }
}

function stillLocked(): SluiceError {
  return new SluiceError('upload_locked', 'Another request is writing this upload. Try again in a moment.', {
    headers: { 'Retry-After': '1' },
  })
}

function nextWord(waiting: Map<string, Set<() => void>>, fileId: string, pollMs: number) {
  const { promise: word, resolve } = Promise.withResolvers<void>()
  const looks = waiting.get(fileId) ?? new Set()
  waiting.set(fileId, looks.add(resolve))
  const timer = setTimeout(resolve, pollMs)
  const forget = () => {
    clearTimeout(timer)
    looks.delete(resolve)
    if (looks.size === 0) waiting.delete(fileId)
  }
  return { word, forget }
}
