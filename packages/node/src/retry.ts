const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8000
/** If the server asks for a longer delay, the call fails instead of waiting. */
const MAX_RETRY_AFTER_MS = 30_000
/** Statuses for which a retry may succeed, in addition to 5xx. */
const PASSING = [408, 425, 429]

/** How long to wait before the next attempt; undefined if there is none. No status means no response. */
export function retryDelayMs(
  attempt: number,
  { status, retryAfter }: { status?: number | undefined; retryAfter?: string | null },
  random = Math.random,
): number | undefined {
  if (status !== undefined && status < 500 && !PASSING.includes(status)) return undefined
  if (retryAfter && /^\d+$/.test(retryAfter)) {
    const toldMs = Number(retryAfter) * 1000
    return toldMs <= MAX_RETRY_AFTER_MS ? toldMs : undefined
  }
  const ceilingMs = Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS)
  return ceilingMs / 2 + (ceilingMs / 2) * random()
}
