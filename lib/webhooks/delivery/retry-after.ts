import { hours } from '../../platform/kernel/clock.ts'

const LONGEST_MS = hours(1)

/** How long a 429 or 503 asks to wait (RFC 9110, 10.2.3: seconds or a date), but at most an hour. */
export function retryAfterMs(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0
  const text = header.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LONGEST_MS)
}
