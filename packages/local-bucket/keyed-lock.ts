/** Runs one task at a time for each name. Works within this process only; every task must be certain to end. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>()

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(name) ?? Promise.resolve()
    const result = before.then(work)
    const tail = result.then(
      () => {},
      () => {},
    )
    this.#tails.set(name, tail)
    try {
      return await result
    } finally {
      if (this.#tails.get(name) === tail) this.#tails.delete(name)
    }
  }
}
