import { setTimeout as sleep } from 'node:timers/promises'
import { inGroups } from '../../platform/db/in-groups.ts'
import { seconds } from '../../platform/kernel/clock.ts'

const AT_ONCE = 100
/** In total well below the duration of a claim: once that expires, another process makes the attempt again. */
const WAITS_MS = [250, seconds(1), seconds(4)]

/**
 * Records attempts in batches. If a batch fails, each attempt is recorded alone, with a few retries: a moment without
 * the database must not make receivers get events twice, and an attempt that cannot be recorded must not affect the
 * others.
 */
export function createRecorder<Attempt>(
  recordAll: (made: Attempt[]) => Promise<void>,
  pause: (ms: number) => Promise<unknown> = sleep,
): (attempt: Attempt) => Promise<void> {
  const together = inGroups<Attempt, void>(
    async (made) => {
      await recordAll(made)
      return made.map(() => undefined)
    },
    { most: AT_ONCE },
  )
  const alone = async (attempt: Attempt): Promise<void> => {
    let fault: unknown
    for (const waitMs of WAITS_MS) {
      await pause(waitMs)
      try {
        return await recordAll([attempt])
      } catch (error) {
        fault = error
      }
    }
    throw fault
  }
  return (attempt) => together(attempt).catch(() => alone(attempt))
}
