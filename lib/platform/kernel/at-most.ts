import { within } from './within.ts'

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
