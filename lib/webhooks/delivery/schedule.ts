import { hours, minutes, seconds } from '../../platform/kernel/clock.ts'

/** How long to wait before each further attempt after the first, which is made at once. */
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

/** So that retries after an outage do not all come in the same second. */
const JITTER = 0.1

/** The wait after the attempt with that number, counted from 1; undefined after the last. `random` is in [0, 1). */
export function retryDelayMs(attempt: number, random: number): number | undefined {
  const delay = RETRY_DELAYS_MS[attempt - 1]
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * (2 * random - 1)))
}
