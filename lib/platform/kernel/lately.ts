/** Keeps recent entries, newest last, limited by age and by number. */
export class Lately<Item> {
  readonly #items: { item: Item; atMs: number }[] = []
  readonly #now: () => number
  #forgetting: NodeJS.Timeout | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  add(item: Item): void {
    if (this.#items.length >= MOST) this.#items.shift()
    this.#items.push({ item, atMs: this.#now() })
    // Without a timer, the entries of the last busy minute would stay in memory until enough others replace them.
    this.#forgetting ??= setTimeout(this.#forget, KEPT_MS).unref()
  }

  all(): Item[] {
    const sinceMs = this.#now() - KEPT_MS
    return this.#items.filter(({ atMs }) => atMs >= sinceMs).map(({ item }) => item)
  }

  readonly #forget = (): void => {
    const sinceMs = this.#now() - KEPT_MS
    const firstKept = this.#items.findIndex(({ atMs }) => atMs > sinceMs)
    this.#items.splice(0, firstKept < 0 ? this.#items.length : firstKept)
    this.#forgetting = this.#items.length > 0 ? setTimeout(this.#forget, FORGET_EVERY_MS).unref() : undefined
  }
}

const KEPT_MS = 60_000
const FORGET_EVERY_MS = 10_000
const MOST = 10_000
