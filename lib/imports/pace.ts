import type { Clock } from '../platform/kernel/clock.ts'

/** Limits an import to its share of its workspace's bandwidth. */
export class Pace {
  readonly #clock: Clock
  #bytesPerSecond: number
  /** The time by which the bytes received so far are within the limit. */
  #paidAtMs: number

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock
    this.#bytesPerSecond = bytesPerSecond
    this.#paidAtMs = clock.now()
  }

  /** Called when other imports in the workspace have started or ended. */
  changeTo(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond
  }

  /** Returns how long to wait after these bytes. */
  spend(bytes: number): number {
    const nowMs = this.#clock.now()
    this.#paidAtMs = Math.max(this.#paidAtMs, nowMs) + (bytes / this.#bytesPerSecond) * 1000
    return this.#paidAtMs - nowMs < TOO_SHORT_MS ? 0 : this.#paidAtMs - nowMs
  }
}

/** Shorter waits are skipped, because a timer for every chunk would cost more than it is worth. */
const TOO_SHORT_MS = 50
