import { performance } from 'node:perf_hooks'
import { releaseMemory } from './release-memory.ts'

const LOOK_EVERY_MS = 5000
/** Of the time, how much of it the event loop is at work. Sweeps and probes stay below this. */
const IDLE_BELOW = 0.05
/** How many looks in a row must find the process idle. */
const IDLE_LOOKS = 6
/** Nobody is answered while garbage is collected, so traffic that comes and goes must not cause one collection after another. */
const AT_MOST_EVERY_MS = 10 * 60_000

type Deps = { busyShare(): number; now(): number; collect(): void }

/**
 * Collects garbage once a process that has worked becomes idle. Left to itself, V8 keeps what the last load took from the
 * system, since it collects only where something allocates.
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
    // The collection itself is no work.
    busyShare()
    hasWorked = false
    collectedAtMs = now()
  }
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return { look, stop: () => clearInterval(timer) }
}

/** Tells how busy the event loop was since it was last asked. */
function meter(): Deps['busyShare'] {
  let before = performance.eventLoopUtilization()
  return () => {
    const after = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(after, before)
    before = after
    return utilization
  }
}
