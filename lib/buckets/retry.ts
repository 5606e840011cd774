import { setTimeout as sleep } from 'node:timers/promises'
import { BucketError, isBucketError } from './bucket-error.ts'

/** How long to wait before each retry; a quarter is random, so that many do not come back at once. */
export const RETRY_DELAYS_MS: readonly number[] = [100, 400, 1200, 3000]

export type RetryOptions = {
  delaysMs: readonly number[]
  signal?: AbortSignal | undefined
  mayRepeat?: (error: BucketError, delayMs: number) => boolean
  random?: () => number
}

/** Retries after transient errors. `attempt` gets the number of attempts before it. */
export async function withRetries<Result>(
  attempt: (earlier: number) => Promise<Result>,
  { delaysMs, signal, mayRepeat = () => true, random = Math.random }: RetryOptions,
): Promise<Result> {
  for (let earlier = 0; ; earlier++) {
    if (signal?.aborted) throw givenUp(signal)
    try {
      return await attempt(earlier)
    } catch (error) {
      if (signal?.aborted) throw givenUp(signal)
      const delayMs = delaysMs[earlier]
      if (isBucketError(error)) error.attempts = earlier + 1
      if (
        delayMs === undefined ||
        !isBucketError(error) ||
        error.kind !== 'trouble' ||
        !mayRepeat(error, delayMs)
      )
        throw error
      await sleep(delayMs * (0.75 + random() / 4), undefined, { signal }).catch(() => {})
    }
  }
}

function givenUp(signal: AbortSignal): BucketError {
  return new BucketError('aborted', 'aborted', 'The request to the bucket was given up.', {
    cause: signal.reason,
  })
}
