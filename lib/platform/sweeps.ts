import { pause } from './kernel/waits.ts'
import type { Logger } from './log/log.ts'

/**
 * Work that comes up by the passing of time. A sweep may run on several nodes at once: it claims its rows
 * with `for update skip locked`, does a bounded batch, and answers how many it did.
 */
export type Sweep = {
  name: string
  everyMs: number
  /** What a run does at most. After one that did so much there is more, and the next one does not wait. */
  batch?: number
  /** It always finds something where there is work at all, so that it is worth no line in the log. */
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
