/** How much faster the file has to become for one more connection to be worth it. */
const WORTHWHILE = 1 / 6
const WINDOW_MS = 1000
const SETTLED_MS = 30_000

/**
 * How many connections send a file that has lanes. There are two at first, and one more as long as that makes the file
 * arrive a sixth faster. When it does not, or when the server is busy, there is one fewer, for half a minute.
 */
export class Connections {
  readonly #most: number
  #limit: number
  /** The rate before the last connection was added, in bytes per millisecond. */
  #rate = 0
  #bytes = 0
  #sinceMs: number | undefined
  #settledUntilMs = 0

  constructor(most: number) {
    this.#most = most
    this.#limit = Math.min(2, most)
  }

  get limit(): number {
    return this.#limit
  }

  /** Counts bytes that were sent while this many connections were in use. */
  sent(bytes: number, inUse: number, nowMs: number): void {
    // Only the rate of all connections together tells whether the last one was worth it.
    if (inUse < this.#limit) this.#sinceMs = undefined
    if (this.#sinceMs === undefined) this.#begin(nowMs)
    this.#bytes += bytes
    const tookMs = nowMs - this.#sinceMs!
    if (tookMs < WINDOW_MS) return
    this.#judge(this.#bytes / tookMs, nowMs)
    this.#begin(nowMs)
  }

  /** The server has refused a connection because it is busy. */
  refused(nowMs: number): void {
    this.#settle(this.#limit - 1, nowMs)
    this.#begin(nowMs)
  }

  #judge(rate: number, nowMs: number): void {
    if (nowMs < this.#settledUntilMs) return
    if (rate < this.#rate * (1 + WORTHWHILE)) this.#settle(this.#limit - 1, nowMs)
    else if (this.#limit === this.#most) this.#settle(this.#limit, nowMs)
    else {
      this.#rate = rate
      this.#limit += 1
    }
  }

  #settle(limit: number, nowMs: number): void {
    this.#limit = Math.max(limit, 1)
    this.#rate = 0
    this.#settledUntilMs = nowMs + SETTLED_MS
  }

  #begin(nowMs: number): void {
    this.#sinceMs = nowMs
    this.#bytes = 0
  }
}
