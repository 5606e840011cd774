import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Account } from './memory-budget.ts'
import { type Held, isFull, type Shares } from './memory-shares.ts'

/**
 * Memory in one piece, for bytes that are read back while others of the same part are held. If these requests took turns
 * with readers, uploads could wait for each other forever. So a workspace that has used up its share is lent memory that
 * readers never get: one piece at a time, and next is the workspace whose last loan is the longest ago.
 */
export type Reservations = {
  reserve(account: Account, bytes: number, signal: AbortSignal): Promise<() => void>
  /** Called when memory has become free. */
  grant(): void
}

type Request = { account: Account; bytes: number; granted(giveBack: () => void): void }

export function createReservations(
  shares: Shares,
  memory: { held(account: Account): Held; take(account: Account, bytes: number): void },
): Reservations {
  const { limitBytes, tailBytes, responseBytes, partBytes } = shares
  const waiting = new Set<Request>()
  let loans = 0

  const fitsShare = ({ account, bytes }: Request) => {
    const held = memory.held(account)
    return !isFull(shares, held) && held.allBytes + bytes <= partBytes
  }
  const canBeLent = ({ account, bytes }: Request) =>
    memory.held(account).allBytes + bytes <= limitBytes - responseBytes
  const hand = (request: Request, lent: boolean) => {
    const { account, bytes, granted } = request
    const { workspace } = account
    waiting.delete(request)
    if (lent) {
      workspace.lentBytes = bytes
      workspace.lastLent = ++loans
    }
    memory.take(account, bytes)
    granted(() => {
      if (lent) workspace.lentBytes = 0
      memory.take(account, -bytes)
    })
  }
  const grant = () => {
    for (const request of waiting) if (fitsShare(request)) hand(request, false)
    for (;;) {
      const next = longestWithoutLoan(waiting)
      if (!next || !canBeLent(next)) return
      hand(next, true)
    }
  }
  return {
    grant,
    async reserve(account, bytes, signal) {
      // A copy within the bucket needs no memory, and waits for nothing.
      if (bytes === 0) return () => {}
      if (bytes > tailBytes) throw tooLittleMemory()
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const request = { account, bytes, granted: resolve }
      const giveUp = () => {
        if (waiting.delete(request)) reject(signal.reason)
      }
      waiting.add(request)
      signal.addEventListener('abort', giveUp, { once: true })
      grant()
      return promise.finally(() => signal.removeEventListener('abort', giveUp))
    },
  }
}

/** Only the first in line gets a loan: small requests must not overtake a large one again and again. */
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
    'This upload was begun with larger parts than this node has memory for. Its operator must raise UPLOAD_MEMORY_BYTES.',
    { headers: { 'Retry-After': '60' } },
  )
}
