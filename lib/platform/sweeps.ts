import { pause } from './kernel/waits.ts'
import type { Logger } from './log/log.ts'

/**
 * Periodic work. A sweep may run on several nodes at once: it claims its rows with `for update skip locked`, processes
 * a bounded batch of them, and returns how many it processed.
 */
export type Sweep = {
  name: string
  everyMs: number
  /** The maximum number of rows per run. After a full batch, there may be more to do, so the next run does not wait. */
  batch?: number
  /** True for a sweep that does work on most runs in normal operation: its runs are only logged at debug level. */
  routine?: true
  run(): Promise<number>
}

export function startSweeps(sweeps: Sweep[], log: Logger): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const running = sweeps.map((sweep) => repeat(sweep, log, stopping.signal))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

async function repeat(
  { name, everyMs, batch = Number.POSITIVE_INFINITY, routine, run }: Sweep,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let pauseMs = everyMs
    try {
      const done = await run()
      if (done >= batch) pauseMs = 0
      if (done > 0) log[routine ? 'debug' : 'info']({ sweep: name, done }, 'swept')
    } catch (error) {
      log.error({ err: error, sweep: name }, 'sweep failed; it runs again')
    }
    await pause(pauseMs, signal)
  }
}
