import { hours, minutes, seconds } from './clock.ts'

/** How long to wait before each retry. The first attempt is immediate. */
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

/** Spreads retries, so that they do not all arrive in the same second after an outage. */
const JITTER = 0.1

/** The wait after the given attempt, counting from 1; undefined after the last. `random` is in [0, 1). */
export function retryDelayMs(attempt: number, random: number): number | undefined {
  const delay = RETRY_DELAYS_MS[attempt - 1]
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * (2 * random - 1)))
}

const LONGEST_MS = hours(1)

/** How long a 429 or 503 response asks clients to wait (RFC 9110, 10.2.3: seconds or a date), limited to an hour. */
export function retryAfterMs(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0
  const text = header.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LONGEST_MS)
}
