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

  async settled(fileId: string): Promise<void> {
    await Promise.all(this.#incoming.get(fileId) ?? [])
  }
}
