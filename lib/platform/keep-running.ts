import { pause } from './kernel/waits.ts'
import type { Logger } from './log/log.ts'

/** A started process. */
export type Running = {
  /** Resolves when the process has ended, with the reason. */
  ended: Promise<string>
  stop(): Promise<void>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000
/** A process that ran for this long before it ended is restarted immediately. */
const STEADY_MS = 10_000

/** Starts a program, and restarts it whenever it ends unexpectedly, until it is stopped. */
export async function keepRunning(
  name: string,
  start: () => Promise<Running>,
  log: Logger,
): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController()
  let current = await start()
  const watch = async () => {
    let pauseMs = 0
    for (;;) {
      const startedMs = performance.now()
      const why = await current.ended
      if (stopping.signal.aborted) return
      log.error({ why }, `${name} ended unexpectedly and is being restarted`)
      pauseMs = performance.now() - startedMs < STEADY_MS ? longer(pauseMs) : 0
      const next = await startAgain(start, { name, log, pauseMs, stopping: stopping.signal })
      if (!next) return
      current = next
      // If the program started while it was being stopped, `stop` ends it.
      if (stopping.signal.aborted) return
    }
  }
  const watching = watch()
  return {
    async stop() {
      stopping.abort()
      await current.stop()
      await watching
      await current.stop()
    },
  }
}

const longer = (pauseMs: number) => Math.min(pauseMs * 2 || FIRST_PAUSE_MS, LONGEST_PAUSE_MS)

async function startAgain(
  start: () => Promise<Running>,
  options: { name: string; log: Logger; pauseMs: number; stopping: AbortSignal },
): Promise<Running | undefined> {
  const { name, log, stopping } = options
  for (let { pauseMs } = options; ; pauseMs = longer(pauseMs)) {
    await pause(pauseMs, stopping)
    if (stopping.aborted) return undefined
    try {
      return await start()
    } catch (error) {
      log.error({ err: error }, `${name} failed to start`)
    }
  }
}
