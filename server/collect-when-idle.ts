import { performance } from 'node:perf_hooks'
import { releaseMemory } from './release-memory.ts'

const LOOK_EVERY_MS = 5000
/** The fraction of time that the event loop is busy. Sweeps and probes stay below this. */
const IDLE_BELOW = 0.05
/** How many consecutive checks must find the process idle. */
const IDLE_LOOKS = 6
/** No request is served during a garbage collection, so intermittent traffic must not cause repeated collections. */
const AT_MOST_EVERY_MS = 10 * 60_000

type Deps = { busyShare(): number; now(): number; collect(): void }

/**
 * Collects garbage once a busy process becomes idle. Otherwise, V8 keeps the memory that it needed for the last load,
 * because it only collects garbage when something allocates memory.
 */
export function collectWhenIdle(
  { busyShare, now, collect }: Deps = {
    busyShare: meter(),
    now: () => performance.now(),
    collect: releaseMemory,
  },
): { look(): void; stop(): void } {
  let hasWorked = false
  let idleLooks = 0
  let collectedAtMs = Number.NEGATIVE_INFINITY
  const look = () => {
    const isIdle = busyShare() < IDLE_BELOW
    idleLooks = isIdle ? idleLooks + 1 : 0
    if (!isIdle) hasWorked = true
    if (!hasWorked || idleLooks < IDLE_LOOKS || now() - collectedAtMs < AT_MOST_EVERY_MS) return
    collect()
    // The collection itself does not count as work.
    busyShare()
    hasWorked = false
    collectedAtMs = now()
  }
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return { look, stop: () => clearInterval(timer) }
}

/** Returns how busy the event loop has been since the last call. */
function meter(): Deps['busyShare'] {
  let before = performance.eventLoopUtilization()
  return () => {
    const after = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(after, before)
    before = after
    return utilization
  }
}
