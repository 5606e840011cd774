/** Requests of this node that are on their way to a lease: what they brought shows in the offset once they have had it. */
export class IncomingRequests {
  readonly #incoming = new Map<string, Set<Promise<void>>>()

  /** Call the answer when the request has the lease, or gave up. */
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
