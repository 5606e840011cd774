/** Waits for work to finish, but at most for `ms`. The work itself continues after that. */
export async function within<Result>(ms: number, work: Promise<Result>): Promise<Result | 'late'> {
  work.catch(() => {})
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(resolve, ms, 'late')
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

const STEPS = 20

/** Waits for `ms` in short steps, so that time in which this process is too busy to receive responses hardly counts. */
export async function patience(ms: number): Promise<'late'> {
  for (let step = 0; step < STEPS; step++)
    await new Promise((resolve) => setTimeout(resolve, ms / STEPS).unref())
  return 'late'
}

/**
 * Runs a limited number of tasks at once; the others wait in order of arrival. A task that takes longer than
 * `patienceMs` continues but frees its slot, because it may never end.
 */
export function atMost(
  most: number,
  patienceMs: number,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = []
  let running = 0
  const leave = () => {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
  return async (work) => {
    if (running < most) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    // `work` may throw before it returns a promise.
    const working = (async () => work())()
    void within(patienceMs, working).then(leave, leave)
    return working
  }
}

/**
 * A bell that wakes its waiter when it rings, when the timeout expires, or when the signal is aborted. A ring that
 * nobody waits for is remembered.
 */
export function createBell(signal: AbortSignal) {
  let rung = false
  let wake = () => {}
  const ring = () => {
    rung = true
    wake()
  }
  signal.addEventListener('abort', ring, { once: true })
  return {
    ring,
    async wait(ms: number): Promise<void> {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
      }
      rung = false
    },
  }
}

/** Waits for `ms`, or until the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
