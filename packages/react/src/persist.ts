import { isLasting, reasonOf } from './failure.ts'

const FIRST_DELAY_MS = 1000
export const MAX_DELAY_MS = 30_000

/**
 * Tries until it works, or fails for good. It waits for as long as it takes, and goes on at once when the browser
 * says that the network is back; where the browser does not know, within half a minute.
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
    // Paused or removed: a new request is made when it goes on, and nobody waits for this one.
    if (signal.aborted) return new Promise(() => {})
  }
}

/** Waits for the browser to say that the network is back, and no longer than told: it may be wrong. */
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
