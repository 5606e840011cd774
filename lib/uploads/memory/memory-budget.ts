import type { Clock } from '../../platform/kernel/clock.ts'
import { largestPartBytes } from '../part-plan.ts'
import { createReservations, type Reservations } from './memory-reservations.ts'
import { divideMemory, type Held, holdsFraction, isFull } from './memory-shares.ts'
import { createPagePool, type PagePool } from './page-pool.ts'
import { type ResponseMemory, responseMemory } from './response-memory.ts'
import { createSpiller, type Spillable, type Spiller } from './spill-slow-parts.ts'

/**
 * The bytes that uploads may hold in memory, over the whole process: parts as they arrive, tails that are read back, and
 * responses of buckets. Memory is taken before bytes are kept, and given back when they are durable, so the limit is
 * never exceeded. A reader looks at `full` before each chunk of its client, and pauses.
 *
 * Each workspace has an account, which is full when it holds a certain multiple of what is left: one workspace alone may
 * use most of the common memory, and one whose buckets hang, or several, leave the others their share. The same holds
 * for the buckets within a workspace. `memory-shares.ts` has the arithmetic.
 */
export type MemoryBudget = {
  /** The largest part that an upload may have. */
  readonly maxPartBytes: number
  readonly usedBytes: number
  account(bucket: OwnedBucket): MemoryAccount
  /** For the responses of a workspace's buckets. */
  responses(workspaceId: string): ResponseMemory
}

export type OwnedBucket = { readonly workspaceId: string }

export type MemoryAccount = {
  readonly pages: PagePool
  readonly full: boolean
  /** Takes up to a page at a time, and only while the account is not full. */
  take(bytes: number): void
  give(bytes: number): void
  /** Takes memory in one piece once there is enough. However many wait, each gets it. Resolves to a function that gives it back. */
  reserve(bytes: number, signal: AbortSignal): Promise<() => void>
  /** Announces bytes that are on their way out and will be free soon; negative once they are. */
  leaving(bytes: number): void
  /** Calls back once there may be room again. */
  whenFree(resume: () => void): void
  /** Offers a half-filled part to be spilled. Its first byte has just come, so parts offered before it are slower. */
  offer(spillable: Spillable): void
  withdraw(spillable: Spillable): void
}

export type Workspace = {
  usedBytes: number
  /** Held by responses. */
  responseBytes: number
  /** Lent to it from the memory for tails. */
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

export function createMemoryBudget(
  limitBytes: number,
  { clock, onChange, maxPartBytes = largestPartBytes(limitBytes) }: Options,
): MemoryBudget {
  const shares = divideMemory(limitBytes, maxPartBytes)
  const pages = createPagePool()
  const workspaces = createWorkspaces()
  const accounts = new WeakMap<OwnedBucket, MemoryAccount>()
  const offers = new Set<Spillable>()
  let usedBytes = 0

  const held = (account: Account): Held => ({
    allBytes: usedBytes,
    workspaceBytes: account.workspace.usedBytes,
    bucketBytes: account.usedBytes,
  })
  const full = (account: Account) => isFull(shares, held(account))
  const spiller = createSpiller({
    clock,
    offers,
    holds: (part, account) => holdsFraction(part, shares, held(account)),
  })
  const change = (workspace: Workspace, bytes: number) => {
    usedBytes += bytes
    workspace.usedBytes += bytes
    onChange?.(usedBytes)
    if (bytes < 0) handOn()
  }
  const add = (account: Account, bytes: number) => {
    account.usedBytes += bytes
    change(account.workspace, bytes)
  }
  const reservations = createReservations(shares, { held, take: add })
  /** Tails first: each lets a whole part go to the bucket. */
  const handOn = () => {
    reservations.grant()
    for (const account of spiller.pressed)
      while (account.waiting.length > 0 && !full(account)) account.waiting.shift()!()
  }
  const open = (workspace: Workspace) =>
    openAccount(
      { workspace, usedBytes: 0, leavingBytes: 0, waiting: [], offers: new Set() },
      { pages, full, add, reservations, spiller, offers },
    )
  return {
    maxPartBytes,
    get usedBytes() {
      return usedBytes
    },
    account(bucket) {
      const account = accounts.get(bucket) ?? open(workspaces.of(bucket.workspaceId))
      accounts.set(bucket, account)
      return account
    },
    responses: (workspaceId) =>
      responseMemory(shares, workspaces.of(workspaceId), { usedBytes: () => usedBytes, change }),
  }
}

type Common = {
  pages: PagePool
  full(account: Account): boolean
  add(account: Account, bytes: number): void
  reservations: Reservations
  spiller: Spiller
  /** The offers of all accounts, in the order of their first bytes. */
  offers: Set<Spillable>
}

function openAccount(account: Account, common: Common): MemoryAccount {
  const { pages, full, add, reservations, spiller, offers } = common
  return {
    pages,
    get full() {
      return full(account)
    },
    take(bytes) {
      add(account, bytes)
      spiller.look(account)
    },
    give: (bytes) => add(account, -bytes),
    reserve: (bytes, signal) => reservations.reserve(account, bytes, signal),
    leaving(bytes) {
      account.leavingBytes += bytes
    },
    whenFree(resume) {
      if (!full(account)) return resume()
      if (account.waiting.push(resume) === 1) spiller.wait(account)
    },
    offer(spillable) {
      for (const offered of [account.offers, offers]) {
        offered.delete(spillable)
        offered.add(spillable)
      }
    },
    withdraw(spillable) {
      account.offers.delete(spillable)
      offers.delete(spillable)
    },
  }
}

/** One object for each id, kept for as long as anything refers to it. */
function createWorkspaces() {
  const known = new Map<string, WeakRef<Workspace>>()
  const gone = new FinalizationRegistry((id: string) => {
    if (!known.get(id)?.deref()) known.delete(id)
  })
  return {
    of(id: string): Workspace {
      const before = known.get(id)?.deref()
      if (before) return before
      const workspace = { usedBytes: 0, responseBytes: 0, lentBytes: 0, lastLent: 0 }
      known.set(id, new WeakRef(workspace))
      gone.register(workspace, id)
      return workspace
    },
  }
}
