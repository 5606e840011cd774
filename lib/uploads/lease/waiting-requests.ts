/** Requests waiting for a file to become free. A notification or a timeout wakes each of them. */
export class WakeUps {
  readonly #waiting = new Map<string, Set<() => void>>()

  wake(rowId: string): void {
    for (const wake of this.#waiting.get(rowId) ?? []) wake()
  }

  wakeAll(): void {
    for (const rowId of [...this.#waiting.keys()]) this.wake(rowId)
  }

  /** `woken` resolves on the next notification, or after `patienceMs`. */
  next(rowId: string, patienceMs: number): { woken: Promise<void>; forget(): void } {
    const { promise: woken, resolve } = Promise.withResolvers<void>()
    const ofRow = this.#waiting.get(rowId) ?? new Set()
    this.#waiting.set(rowId, ofRow.add(resolve))
    const timer = setTimeout(resolve, patienceMs)
    const forget = () => {
      clearTimeout(timer)
      ofRow.delete(resolve)
      if (ofRow.size === 0) this.#waiting.delete(rowId)
    }
    return { woken, forget }
  }
}

/**
 * This node's requests that are waiting for a lease. Their bytes do not count toward the offset before they hold the
 * lease.
 */
export class IncomingRequests {
  readonly #incoming = new Map<string, Set<Promise<void>>>()

  /** Call the returned function once the request holds the lease or has given up. */
  track(rowId: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    const ofRow = this.#incoming.get(rowId) ?? new Set()
    this.#incoming.set(rowId, ofRow.add(promise))
    return () => {
      resolve()
      ofRow.delete(promise)
      if (ofRow.size === 0) this.#incoming.delete(rowId)
    }
  }

  /** Resolves when the requests that are waiting now hold the lease or have given up. */
  async passed(rowId: string): Promise<void> {
    await Promise.all(this.#incoming.get(rowId) ?? [])
  }
}
