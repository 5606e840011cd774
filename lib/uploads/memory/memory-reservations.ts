import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Account } from './memory-budget.ts'
import { type Held, isFull, type Shares } from './memory-shares.ts'

type Request = { account: Account; bytes: number; granted(giveBack: () => void): void }

type Memory = { held(account: Account): Held; take(account: Account, bytes: number): void }

/**
 * Memory that is taken all at once: for a tail that is read back while the rest of its part is already in memory. If
 * these requests competed with readers for memory, uploads could deadlock. So some memory is set aside that readers
 * never get. It is lent to workspaces that have used up their share: one loan each at a time, and whoever had none for
 * longest goes first.
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

/** Who is next for a loan. Nobody else gets one, or small requests could overtake a large one indefinitely. */
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
    'This upload was begun with larger parts than this node has memory for. The operator must raise UPLOAD_MEMORY_BYTES.',
    { headers: { 'Retry-After': '60' } },
  )
}
