import { SluiceError } from '../platform/kernel/errors.ts'
import type { Account, Workspace } from './memory-budget.ts'
import { FIRST_PAGE_BYTES, PAGE_BYTES } from './page-pool.ts'
import { MIN_PART_BYTES, USUAL_PART_BYTES } from './part-sizes.ts'

/**
 * How the memory budget is divided: a sixty-fourth for bucket responses, the size of the largest part for tails that
 * are read back, a quarter for workspaces that hold less than one part, and the rest for everyone.
 */
export type Shares = {
  readonly limitBytes: number
  /** The maximum size of one reservation. */
  readonly tailBytes: number
  readonly responseBytes: number
  /** For parts that are being received or sent. */
  readonly partBytes: number
  /** How much of `partBytes` is open to workspaces that already hold an entire part. */
  readonly commonBytes: number
  /** How much of `partBytes` may be used by parts that only best-effort destinations still need. */
  readonly trailingBytes: number
}

/**
 * The bytes that the process, one workspace, and one of its buckets currently hold, and the operator's limit for the
 * workspace.
 */
export type Held = {
  allBytes: number
  workspaceBytes: number
  workspaceMostBytes: number
  bucketBytes: number
}

/** A workspace may hold this multiple of what is left, so that some memory is always left for other workspaces. */
const WORKSPACE_SHARE = 3
/**
 * The multiple for a workspace that holds less than one part. It is lower, so that many of them can each fill a part.
 */
const SMALL_WORKSPACE_SHARE = 1
/** A bucket may hold this multiple of what is left for its workspace. */
const BUCKET_SHARE = 4
/** Concatenation reads less than twice the minimum part size into memory at a time. */
const MAX_JOINED_BYTES = 2 * MIN_PART_BYTES
/** The most memory that a chunk can take: a full page at the end of one part, and the first two pages of the next. */
const CHUNK_TAKES_BYTES = 2 * PAGE_BYTES + FIRST_PAGE_BYTES

export function divideMemory(limitBytes: number, maxPartBytes: number): Shares {
  const tailBytes = Math.max(maxPartBytes, MAX_JOINED_BYTES)
  const responseBytes = Math.floor(limitBytes / 64)
  const partBytes = limitBytes - tailBytes - responseBytes
  const commonBytes = partBytes - limitBytes / 4
  return { limitBytes, tailBytes, responseBytes, partBytes, commonBytes, trailingBytes: limitBytes / 4 }
}

/** A percentage of the memory for parts, but at least one part, so that uploads make progress. */
export function mostBytesOf({ partBytes }: Shares, percent: number | undefined): number {
  return percent === undefined ? Infinity : Math.max((partBytes * percent) / 100, USUAL_PART_BYTES)
}

/** Whether a bucket's uploads hold at least this fraction of their limit. */
export function holdsFraction(fraction: number, shares: Shares, held: Held): boolean {
  const { allBytes, workspaceBytes, workspaceMostBytes, bucketBytes } = held
  const mayHoldBytes =
    workspaceBytes < USUAL_PART_BYTES
      ? SMALL_WORKSPACE_SHARE * (shares.partBytes - allBytes)
      : WORKSPACE_SHARE * (shares.commonBytes - allBytes)
  return (
    workspaceBytes >= fraction * Math.min(mayHoldBytes, workspaceMostBytes) ||
    bucketBytes >= fraction * BUCKET_SHARE * (mayHoldBytes - workspaceBytes)
  )
}

/** Whether a bucket's uploads must stop reading. If not, one more chunk is sure to fit. */
export function isFull(shares: Shares, held: Held): boolean {
  return held.allBytes + CHUNK_TAKES_BYTES > shares.partBytes || holdsFraction(1, shares, held)
}

type Request = { account: Account; bytes: number; granted(giveBack: () => void): void }

type Memory = { held(account: Account): Held; take(account: Account, bytes: number): void }

/**
 * Memory that is taken in one step, for a tail that is read back while the rest of its part is already in memory. If
 * these requests competed with readers for memory, uploads could deadlock, so some memory is set aside for the
 * requests, and readers never get it. It is lent to workspaces that have used up their share: one loan at a time each,
 * and the workspace that has waited longest since its last loan goes first.
 */
export class Reservations {
  readonly #shares: Shares
  readonly #memory: Memory
  readonly #waiting = new Set<Request>()
  #loans = 0

  constructor(shares: Shares, memory: Memory) {
    this.#shares = shares
    this.#memory = memory
  }

  async reserve(account: Account, bytes: number, signal: AbortSignal): Promise<() => void> {
    // A copy within the bucket needs no memory, so it need not wait.
    if (bytes === 0) return () => {}
    if (bytes > this.#shares.tailBytes) throw tooLittleMemory()
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const request = { account, bytes, granted: resolve }
    const giveUp = () => {
      if (this.#waiting.delete(request)) reject(signal.reason)
    }
    this.#waiting.add(request)
    signal.addEventListener('abort', giveUp, { once: true })
    this.grant()
    return promise.finally(() => signal.removeEventListener('abort', giveUp))
  }

  /** Called when memory has become free. */
  grant(): void {
    for (const request of this.#waiting) if (this.#fitsShare(request)) this.#hand(request, { lent: false })
    for (;;) {
      const next = longestWithoutLoan(this.#waiting)
      if (!next || !this.#canBeLent(next)) return
      this.#hand(next, { lent: true })
    }
  }

  #hand(request: Request, { lent }: { lent: boolean }): void {
    const { account, bytes, granted } = request
    const { workspace } = account
    this.#waiting.delete(request)
    if (lent) {
      workspace.lentBytes = bytes
      workspace.lastLent = ++this.#loans
    }
    this.#memory.take(account, bytes)
    granted(() => {
      if (lent) workspace.lentBytes = 0
      this.#memory.take(account, -bytes)
    })
  }

  #fitsShare({ account, bytes }: Request): boolean {
    const held = this.#memory.held(account)
    return !isFull(this.#shares, held) && held.allBytes + bytes <= this.#shares.partBytes
  }

  #canBeLent({ account, bytes }: Request): boolean {
    const { limitBytes, responseBytes } = this.#shares
    return this.#memory.held(account).allBytes + bytes <= limitBytes - responseBytes
  }
}

/**
 * The next request in line for a loan. No other request gets a loan before it; otherwise, small requests could overtake
 * a large one indefinitely.
 */
function longestWithoutLoan(waiting: Iterable<Request>): Request | undefined {
  let first: Request | undefined
  for (const request of waiting) {
    const { lentBytes, lastLent } = request.account.workspace
    if (lentBytes === 0 && lastLent < (first?.account.workspace.lastLent ?? Infinity)) first = request
  }
  return first
}

function tooLittleMemory(): SluiceError {
  return new SluiceError(
    'unavailable',
    'This upload was started with larger parts than this node has memory for. The operator must raise UPLOAD_MEMORY_BYTES.',
    { headers: { 'Retry-After': '60' } },
  )
}

/**
 * Limits the memory of parts that only best-effort destinations still need: a workspace may use as much of the share
 * for such parts as it leaves to other workspaces. This memory is part of the budget, from which it has already been
 * taken.
 */
export class TrailingMemory {
  readonly #shareBytes: number
  readonly #byWorkspace = new Map<string, number>()
  #usedBytes = 0

  constructor(shareBytes: number) {
    this.#shareBytes = shareBytes
  }

  isTooMuch(workspaceId: string): boolean {
    return (this.#byWorkspace.get(workspaceId) ?? 0) > this.#shareBytes - this.#usedBytes
  }

  /** Returns a function that releases it. */
  take(workspaceId: string, bytes: number): () => void {
    this.#change(workspaceId, bytes)
    return () => this.#change(workspaceId, -bytes)
  }

  #change(workspaceId: string, bytes: number): void {
    this.#usedBytes += bytes
    const ofWorkspace = (this.#byWorkspace.get(workspaceId) ?? 0) + bytes
    if (ofWorkspace > 0) this.#byWorkspace.set(workspaceId, ofWorkspace)
    else this.#byWorkspace.delete(workspaceId)
  }
}

/** Memory for bucket responses. A response that does not fit is refused. It does not wait for memory. */
export type ResponseMemory = {
  /** Returns false if there is not enough memory. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** While memory is short, one workspace may use this share of the memory for responses. */
const WORKSPACE_FRACTION = 1 / 4

export function responseMemory(
  { limitBytes, partBytes, responseBytes }: Shares,
  workspace: Workspace,
  memory: { usedBytes(): number; change(workspace: Workspace, bytes: number): void },
): ResponseMemory {
  const fits = (bytes: number) => {
    const usedBytes = memory.usedBytes() + bytes
    if (usedBytes <= partBytes) return true
    return usedBytes <= limitBytes && workspace.responseBytes + bytes <= responseBytes * WORKSPACE_FRACTION
  }
  const change = (bytes: number) => {
    workspace.responseBytes += bytes
    memory.change(workspace, bytes)
  }
  return {
    take(bytes) {
      if (!fits(bytes)) return false
      change(bytes)
      return true
    },
    give: (bytes) => change(-bytes),
  }
}
