/** Where a step happens: a node, which can be frozen or dead. */
export type Host = { readonly name: string; state: 'up' | 'frozen' | 'dead'; readonly skewMs: number }

/** Something that can happen next. Nothing else happens: whatever runs at the same time in a real system is a step. */
export type Step = {
  /** Who does it, and what, for the trace. */
  actor: string
  label: string
  /** It does not happen while its host is frozen, and never once that is dead. */
  host?: Host | undefined
  /** Not before this time. */
  dueMs?: number
  /** Asked before the step is offered. */
  isPossible?: () => boolean
  /** It may still happen after its host died, as it was on its way already. */
  mayOutlive?: boolean
  /** A timer of the core, as there are many: a story leaves it out. */
  quiet?: boolean
  run(): void | Promise<void>
}

/** 1 January 2027: far from the change of a month, in which quota is counted. */
export const START_MS = Date.UTC(2027, 0, 12, 12)

/** The steps that can happen, in the order in which they came up, and the time. */
export class Scheduler {
  nowMs = START_MS
  readonly #parked = new Set<Step>()

  /** Returns a function that takes the step back. */
  park(step: Step): () => void {
    this.#parked.add(step)
    return () => void this.#parked.delete(step)
  }

  /** Resolves with the result of `work` once the step was taken. */
  parked<Result>(step: Omit<Step, 'run'>, work: () => Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.park({
        ...step,
        async run() {
          try {
            resolve(await work())
          } catch (error) {
            reject(error)
          }
        },
      })
    })
  }

  take(step: Step): void {
    this.#parked.delete(step)
  }

  ready(): Step[] {
    return [...this.#parked].filter(
      ({ host, dueMs = 0, isPossible }) =>
        dueMs <= this.nowMs && (host?.state ?? 'up') === 'up' && (isPossible?.() ?? true),
    )
  }

  /** The steps of a host, whether they are ready or not. */
  stepsOf(host: Host): Step[] {
    return [...this.#parked].filter((step) => step.host === host)
  }

  /** When the next step is due that waits for its time only. */
  get nextDueMs(): number | undefined {
    let next: number | undefined
    for (const { dueMs, host } of this.#parked)
      if (dueMs !== undefined && dueMs > this.nowMs && (host?.state ?? 'up') === 'up')
        next = Math.min(next ?? Infinity, dueMs)
    return next
  }
}
