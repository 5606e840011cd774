import { isLasting, reasonOf } from './failure.ts'

const FIRST_DELAY_MS = 1000
export const MAX_DELAY_MS = 30_000

/**
 * Retries until it works, or fails permanently. It waits for as long as necessary, and continues immediately when the
 * browser reports that the network is back; if the browser does not know, within half a minute.
 */
export async function persist<Answer>(
  attempt: () => Promise<Answer>,
  signal: AbortSignal,
  tell: (reason: string) => void,
): Promise<Answer> {
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      const answer = await attempt()
      if (!signal.aborted) return answer
    } catch (error) {
      if (!signal.aborted && isLasting(error)) throw error
      if (!signal.aborted) tell(reasonOf(error))
    }
    if (!signal.aborted) await online(delayMs)
    // Paused or removed: a new request is made when it continues, and nobody waits for this one.
    if (signal.aborted) return new Promise(() => {})
  }
}

/** Waits for the browser to report that the network is back, but no longer than the given time: it may be wrong. */
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
