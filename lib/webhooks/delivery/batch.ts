/**
 * Gathers what many callers want done at about the same time into one run: the first waits for nobody, and what comes
 * while it runs goes together next. Each caller learns of its own item's end.
 */
export function createBatch<Item>(
  run: (items: Item[]) => Promise<void>,
  largest: number,
): (item: Item) => Promise<void> {
  type Waiting = { item: Item; resolve(): void; reject(error: unknown): void }
  let waiting: Waiting[] = []
  let running = false

  async function drain(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, largest)
      waiting = waiting.slice(largest)
      await run(batch.map(({ item }) => item)).then(
        () => batch.forEach(({ resolve }) => void resolve()),
        (error) => batch.forEach(({ reject }) => void reject(error)),
      )
    }
    running = false
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!running) void drain()
    })
}
