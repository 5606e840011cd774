import { hours, minutes, seconds } from '../../platform/kernel/clock.ts'

/** How long after the attempt before it each further attempt comes; the first is at once. */
export const RETRY_DELAYS_MS: readonly number[] = [
  seconds(5),
  seconds(30),
  minutes(5),
  minutes(30),
  hours(2),
  hours(5),
  hours(10),
  hours(14),
  hours(20),
  hours(24),
]

/** So that the retries of one outage do not all come back in the same second. */
const JITTER = 0.1

/** Wait after the attempt with that number, counted from 1; nothing after the last. `random` is in [0, 1). */
export function retryDelayMs(attempt: number, random: number): number | undefined {
  const delay = RETRY_DELAYS_MS[attempt - 1]
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * (2 * random - 1)))
}
