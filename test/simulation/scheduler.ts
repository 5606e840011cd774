/** Where a step happens: a node, which can be frozen or dead. */
export type Host = { readonly name: string; state: 'up' | 'frozen' | 'dead'; readonly skewMs: number }

/** A possible next step. Nothing else happens: everything concurrent in a real system is a step. */
export type Step = {
  /** The actor and the action, for the trace. */
  actor: string
  label: string
  /** The step does not happen while its host is frozen, and never happens once the host is dead. */
  host?: Host | undefined
  /** The step does not happen before this time. */
  dueMs?: number
  /** Checked before the step is offered. */
  isPossible?: () => boolean
  /** The step may still happen after its host has died, since it was already in flight. */
  mayOutlive?: boolean
  /** One of the core's many timers, which a story leaves out. */
  quiet?: boolean
  run(): void | Promise<void>
}

/** 12 January 2027: far from the end of a month, since quota is counted by month. */
export const START_MS = Date.UTC(2027, 0, 12, 12)

/** The possible steps, in the order in which they appeared, and the time. */
export class Scheduler {
  nowMs = START_MS
  readonly #parked = new Set<Step>()

  /** Adds a step. Returns a function that withdraws it. */
  park(step: Step): () => void {
    this.#parked.add(step)
    return () => void this.#parked.delete(step)
  }

  /** Resolves with the result of `work` once the step has been taken. */
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

  /** A host's steps, whether they are ready or not. */
  stepsOf(host: Host): Step[] {
    return [...this.#parked].filter((step) => step.host === host)
  }

  /** When the next step that is only waiting on a timer comes due. */
  get nextDueMs(): number | undefined {
    let next: number | undefined
    for (const { dueMs, host } of this.#parked)
      if (dueMs !== undefined && dueMs > this.nowMs && (host?.state ?? 'up') === 'up')
        next = Math.min(next ?? Infinity, dueMs)
    return next
  }
}
