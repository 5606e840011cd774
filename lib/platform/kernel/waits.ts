/** Waits so long and no longer; the work itself goes on. */
export async function within<Result>(ms: number, work: Promise<Result>): Promise<Result | 'late'> {
  work.catch(() => {})
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(resolve, ms, 'late')
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/**
 * Runs so many at once; the others wait for their turn, in the order in which they came. What takes longer than
 * `patienceMs` goes on, but gives its place away: it may never end.
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
    const working = work()
    void within(patienceMs, working).then(leave, leave)
    return working
  }
}

/** Waits for a ring, the time or the end, whichever comes first; a ring that nobody waits for is kept. */
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

/** Waits so long, or until the signal. */
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
