/** What happened in the last while, the newest last. Bounded by age and by number. */
export class Lately<Item> {
  readonly #items: { item: Item; atMs: number }[] = []
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  add(item: Item): void {
    const atMs = this.#now()
    const items = this.#items
    while (items.length >= MOST || (items[0] && items[0].atMs < atMs - KEPT_MS)) items.shift()
    items.push({ item, atMs })
  }

  all(): Item[] {
    const sinceMs = this.#now() - KEPT_MS
    return this.#items.filter(({ atMs }) => atMs >= sinceMs).map(({ item }) => item)
  }
}

const KEPT_MS = 120_000
const MOST = 10_000
