/** Requests that wait for a file to become free. Each is woken by a notification or by a timeout. */
export class WakeUps {
  readonly #waiting = new Map<string, Set<() => void>>()

  wake(fileId: string): void {
    for (const wake of this.#waiting.get(fileId) ?? []) wake()
  }

  wakeAll(): void {
    for (const fileId of [...this.#waiting.keys()]) this.wake(fileId)
  }

  /** `woken` resolves on the next notification from now on, or after `patienceMs`. */
  next(fileId: string, patienceMs: number): { woken: Promise<void>; forget(): void } {
    const { promise: woken, resolve } = Promise.withResolvers<void>()
    const ofFile = this.#waiting.get(fileId) ?? new Set()
    this.#waiting.set(fileId, ofFile.add(resolve))
    const timer = setTimeout(resolve, patienceMs)
    const forget = () => {
      clearTimeout(timer)
      ofFile.delete(resolve)
      if (ofFile.size === 0) this.#waiting.delete(fileId)
    }
    return { woken, forget }
  }
}

/** Requests of this node that are waiting for a lease. The offset includes their bytes only after they have held it. */
export class IncomingRequests {
  readonly #incoming = new Map<string, Set<Promise<void>>>()

  /** Call the returned function once the request holds the lease or has given up. */
  track(fileId: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    const ofFile = this.#incoming.get(fileId) ?? new Set()
    this.#incoming.set(fileId, ofFile.add(promise))
    return () => {
      resolve()
      ofFile.delete(promise)
      if (ofFile.size === 0) this.#incoming.delete(fileId)
    }
  }

  /** Resolves when the requests that wait now hold the lease or have given up. */
  async passed(fileId: string): Promise<void> {
    await Promise.all(this.#incoming.get(fileId) ?? [])
  }
}
