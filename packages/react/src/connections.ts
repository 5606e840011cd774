/** How many files upload at a time. */
export const PARALLEL = 3
/** A browser opens six to a host, and one of them remains for other requests. */
export const CONNECTIONS = 5
/** Smaller files are sent over one connection. */
export const MIN_BYTES_FOR_LANES = 32 * 1024 * 1024
/** More lanes than connections, so that all connections are in use until the end. */
export const LANES = 16

/** With two, a file of 96 MiB took a fifth longer, because it first had to find out that more are faster. */
const AT_FIRST = 4
/** How much faster the file has to become for more connections to be worth it. */
const WORTHWHILE = 1 / 6
/** New connections are not measured at first, when they only fill the buffers on this side of the line. */
const WARM_UP_MS = 500
const WINDOW_MS = 700
const SETTLED_MS = 30_000

/**
 * How many connections send a file that has lanes. There are four at first, and twice as many as long as that makes the
 * file arrive a sixth faster. When it does not, or when the server is busy, there are fewer again, for half a minute.
 */
export class Connections {
  readonly #most: number
  #limit: number
  /** The limit before it was last raised, and the rate until then, in bytes per millisecond. */
  #before = { limit: 1, rate: 0 }
  #bytes = 0
  #sinceMs: number | undefined
  #settledUntilMs = 0

  constructor(most: number) {
    this.#most = most
    this.#limit = Math.min(AT_FIRST, most)
  }

  get limit(): number {
    return this.#limit
  }

  /** Counts bytes that were sent while this many connections were in use. */
  sent(bytes: number, inUse: number, nowMs: number): void {
    // Only the rate of all connections together tells whether the last ones were worth it.
    if (this.#sinceMs === undefined || inUse < this.#limit) this.#begin(nowMs + WARM_UP_MS)
    if (nowMs < this.#sinceMs!) return
    this.#bytes += bytes
    const tookMs = nowMs - this.#sinceMs!
    if (tookMs < WINDOW_MS) return
    const { limit } = this
    if (nowMs >= this.#settledUntilMs) this.#judge(this.#bytes / tookMs, nowMs)
    this.#begin(limit === this.#limit ? nowMs : nowMs + WARM_UP_MS)
  }

  /** The server has refused a connection because it is busy. */
  refused(nowMs: number): void {
    this.#settle(this.#limit - 1, nowMs)
  }

  #judge(rate: number, nowMs: number): void {
    if (rate < this.#before.rate * (1 + WORTHWHILE)) this.#settle(this.#before.limit, nowMs)
    else if (this.#limit === this.#most) this.#settle(this.#limit, nowMs)
    else {
      this.#before = { limit: this.#limit, rate }
      this.#limit = Math.min(this.#limit * 2, this.#most)
    }
  }

  #settle(limit: number, nowMs: number): void {
    this.#limit = Math.max(limit, 1)
    this.#before = { limit: this.#limit, rate: 0 }
    this.#settledUntilMs = nowMs + SETTLED_MS
    this.#sinceMs = undefined
  }

  #begin(atMs: number): void {
    this.#sinceMs = atMs
    this.#bytes = 0
  }
}
