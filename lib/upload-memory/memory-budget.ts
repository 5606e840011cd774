import type { Clock } from '../platform/kernel/clock.ts'
import {
  divideMemory,
  type Held,
  holdsFraction,
  isFull,
  mostBytesOf,
  Reservations,
  type ResponseMemory,
  responseMemory,
  type Shares,
  TrailingMemory,
} from './memory-shares.ts'
import { createPagePool, type PagePool } from './page-pool.ts'
import { largestPartBytes } from './part-sizes.ts'
import { type Spillable, Spiller } from './spill-slow-parts.ts'

type OwnedBucket = { readonly workspaceId: string }

/** The memory of one request or task, which counts against the account of its bucket. */
export type MemoryAccount = {
  readonly pages: PagePool
  readonly full: boolean
  /** What was taken and not given back. */
  readonly heldBytes: number
  /** Takes up to a page at a time, and only while the account is not full. */
  take(bytes: number): void
  give(bytes: number): void
  /**
   * Takes all of the memory in one step, as soon as there is enough. Every request is eventually granted. Resolves to a
   * function that returns it.
   */
  reserve(bytes: number, signal: AbortSignal): Promise<() => void>
  /**
   * Announces bytes that are being sent or written, and will therefore be free soon. Call this with a negative number
   * once they are free.
   */
  leaving(bytes: number): void
  /** Calls `resume` when there may be room again. */
  whenFree(resume: () => void): void
  /**
   * Offers a half-filled part for spilling. Its first byte has just arrived, so parts that were offered earlier have
   * been filling for longer.
   */
  offer(spillable: Spillable): void
  withdraw(spillable: Spillable): void
  /** Announces that bytes are being read until the promise resolves, and given back then at the latest. */
  reading(done: Promise<void>): void
  /** Once nobody reads, gives back what is still held. Resolves to how much that was: 0 unless it was forgotten. */
  close(): Promise<number>
}

export type Workspace = {
  usedBytes: number
  /** The maximum set by an operator. */
  mostBytes: number
  /** Held by responses. */
  responseBytes: number
  /** Lent to the workspace from the memory for tails. */
  lentBytes: number
  lastLent: number
}

export type Account = {
  readonly workspace: Workspace
  usedBytes: number
  leavingBytes: number
  waiting: (() => void)[]
  /** In the order of their first bytes. */
  offers: Set<Spillable>
}

type Options = { clock: Clock; onChange?: (usedBytes: number) => void; maxPartBytes?: number }

/**
 * Limits the bytes that all of the process's uploads hold in memory: incoming parts, tails that are read back, and
 * bucket responses. Memory is taken before it is used and returned when the bytes are durable, so the limit is never
 * exceeded. A reader checks `full` before each chunk from its client, and pauses while it is true.
 *
 * An account is full when its workspace holds a certain multiple of the memory that is left. A single active workspace
 * may therefore use most of the shared memory, while workspaces with unresponsive buckets leave some of it to the
 * others. The same applies to the buckets within a workspace. `memory-shares.ts` has the arithmetic.
 */
export class MemoryBudget {
  /** The largest part that an upload may have. */
  readonly maxPartBytes: number
  readonly trailing: TrailingMemory
  readonly #pages = createPagePool()
  readonly #spiller: Spiller
  readonly #reservations: Reservations
  /** All accounts' offers, in the order of their first bytes. */
  readonly #offers = new Set<Spillable>()
  readonly #shares: Shares
  readonly #workspaces: Workspaces
  readonly #accounts = new WeakMap<OwnedBucket, Account>()
  readonly #onChange: Options['onChange']
  #usedBytes = 0

  constructor(limitBytes: number, { clock, onChange, maxPartBytes = largestPartBytes(limitBytes) }: Options) {
    this.maxPartBytes = maxPartBytes
    this.#onChange = onChange
    const shares = divideMemory(limitBytes, maxPartBytes)
    this.#shares = shares
    this.#workspaces = createWorkspaces((percent) => mostBytesOf(shares, percent))
    const held = (account: Account) => this.#held(account)
    const holds = (part: number, account: Account) => holdsFraction(part, shares, held(account))
    this.#spiller = new Spiller({ clock, offers: this.#offers, holds })
    const take = (account: Account, bytes: number) => this.#add(account, bytes)
    this.trailing = new TrailingMemory(shares.trailingBytes)
    this.#reservations = new Reservations(shares, { held, take })
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  account(bucket: OwnedBucket): MemoryAccount {
    const known = this.#accounts.get(bucket)
    if (known) return this.#open(known)
    const workspace = this.#workspaces.of(bucket.workspaceId)
    const account = { workspace, usedBytes: 0, leavingBytes: 0, waiting: [], offers: new Set<Spillable>() }
    this.#accounts.set(bucket, account)
    return this.#open(account)
  }

  /** For the responses of a workspace's buckets. */
  responses(workspaceId: string): ResponseMemory {
    return responseMemory(this.#shares, this.#workspaces.of(workspaceId), {
      usedBytes: () => this.#usedBytes,
      change: (workspace, bytes) => this.#change(workspace, bytes),
    })
  }

  /**
   * Limits each of these workspaces to a percentage of the memory for parts, and every other workspace to its regular
   * share. A workspace above its limit pauses until enough of its bytes in memory are durable.
   */
  limitWorkspaces(percents: ReadonlyMap<string, number>): void {
    this.#workspaces.limit(percents)
    this.#serveWaiting()
  }

  #open(account: Account): MemoryAccount {
    const isFull = () => this.#isFull(account)
    const allOffers = [account.offers, this.#offers]
    let heldBytes = 0
    let isClosed = false
    const readers = new Set<Promise<void>>()
    const give = (bytes: number) => {
      if (isClosed) return
      heldBytes -= bytes
      this.#add(account, -bytes)
    }
    return {
      pages: this.#pages,
      get full() {
        return isFull()
      },
      get heldBytes() {
        return heldBytes
      },
      take: (bytes) => {
        heldBytes += bytes
        this.#add(account, bytes)
        this.#spiller.look(account)
      },
      give,
      reserve: (bytes, signal) => this.#reservations.reserve(account, bytes, signal),
      leaving(bytes) {
        account.leavingBytes += bytes
      },
      whenFree: (resume) => {
        if (!isFull()) resume()
        else if (account.waiting.push(resume) === 1) this.#spiller.wait(account)
      },
      offer(spillable) {
        // Deleting the offer before adding it moves it to the end.
        for (const offers of allOffers) {
          offers.delete(spillable)
          offers.add(spillable)
        }
      },
      withdraw(spillable) {
        for (const offers of allOffers) offers.delete(spillable)
      },
      reading(done) {
        readers.add(done)
        void done.then(() => readers.delete(done))
      },
      async close() {
        await Promise.all(readers)
        const leftBytes = heldBytes
        give(leftBytes)
        isClosed = true
        return leftBytes
      },
    }
  }

  #isFull(account: Account): boolean {
    return isFull(this.#shares, this.#held(account))
  }

  #add(account: Account, bytes: number): void {
    account.usedBytes += bytes
    this.#change(account.workspace, bytes)
  }

  #held({ workspace, usedBytes: bucketBytes }: Account): Held {
    const { usedBytes: workspaceBytes, mostBytes: workspaceMostBytes } = workspace
    return { allBytes: this.#usedBytes, workspaceBytes, workspaceMostBytes, bucketBytes }
  }

  #change(workspace: Workspace, bytes: number): void {
    this.#usedBytes += bytes
    workspace.usedBytes += bytes
    this.#onChange?.(this.#usedBytes)
    if (bytes < 0) this.#serveWaiting()
  }

  /** Tails come first: each allows an entire part to be sent. */
  #serveWaiting(): void {
    this.#reservations.grant()
    for (const account of this.#spiller.pressed)
      while (account.waiting.length > 0 && !this.#isFull(account)) account.waiting.shift()!()
  }
}

type Workspaces = { of(id: string): Workspace; limit(percents: ReadonlyMap<string, number>): void }

/** Keeps one object for each id, as long as anything refers to the object. */
function createWorkspaces(mostBytesOf: (percent: number | undefined) => number): Workspaces {
  const known = new Map<string, WeakRef<Workspace>>()
  const gone = new FinalizationRegistry((id: string) => {
    if (!known.get(id)?.deref()) known.delete(id)
  })
  let percents: ReadonlyMap<string, number> = new Map()
  return {
    of(id) {
      const before = known.get(id)?.deref()
      if (before) return before
      const mostBytes = mostBytesOf(percents.get(id))
      const workspace = { usedBytes: 0, mostBytes, responseBytes: 0, lentBytes: 0, lastLent: 0 }
      known.set(id, new WeakRef(workspace))
      gone.register(workspace, id)
      return workspace
    },
    limit(now) {
      percents = now
      for (const [id, reference] of known) {
        const workspace = reference.deref()
        if (workspace) workspace.mostBytes = mostBytesOf(percents.get(id))
      }
    },
  }
}

/** Reserves memory for what `work` reads back, and returns it afterwards. */
export async function withMemory<Result>(
  memory: Pick<MemoryAccount, 'reserve'>,
  { bytes, signal }: { bytes: number; signal: AbortSignal },
  work: () => Promise<Result>,
): Promise<Result> {
  const giveBack = await memory.reserve(bytes, signal)
  try {
    return await work()
  } finally {
    giveBack()
  }
}
