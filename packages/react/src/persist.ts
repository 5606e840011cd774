import { isLasting, type Reason, waitingFor } from './failure.ts'

const FIRST_DELAY_MS = 1000
export const MAX_DELAY_MS = 30_000

/**
 * Retries until the attempt succeeds or fails permanently, at least every half minute, and immediately when the browser
 * reports that the network is back.
 */
export async function persist<Answer>(
  attempt: () => Promise<Answer>,
  signal: AbortSignal,
  tell: (reason: Reason) => void,
): Promise<Answer> {
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      const answer = await attempt()
      if (!signal.aborted) return answer
    } catch (error) {
      if (!signal.aborted && isLasting(error)) throw error
      if (!signal.aborted) tell(waitingFor(error))
    }
    if (!signal.aborted) await online(delayMs)
    // The upload was paused or removed. If it continues, it makes a new request, so nothing waits for this one.
    if (signal.aborted) return new Promise(() => {})
  }
}

/**
 * Waits for the browser to report that the network is back, but only for a limited time, because the browser may be
 * wrong.
 */
export function online(atMostMs: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      removeEventListener('online', wake)
      resolve()
    }
    const timer = setTimeout(wake, atMostMs)
    addEventListener('online', wake)
  })
}
