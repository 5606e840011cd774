import type { Logger } from '../../log/log.ts'
import type { Postmaster } from './start-postmaster.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

/** Starts PostgreSQL, and again whenever it ends by itself, for as long as nobody stops it. */
export async function keepRunning(
  start: () => Promise<Postmaster>,
  log: Logger,
): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController()
  let current = await start()
  const watch = async () => {
    for (;;) {
      const why = await current.ended
      if (stopping.signal.aborted) return
      log.error({ why }, 'PostgreSQL ended by itself and is started again')
      const next = await startAgain(start, log, stopping.signal)
      if (!next) return
      current = next
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

async function startAgain(
  start: () => Promise<Postmaster>,
  log: Logger,
  stopping: AbortSignal,
): Promise<Postmaster | undefined> {
  for (let pauseMs = FIRST_PAUSE_MS; !stopping.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await start()
    } catch (error) {
      log.error({ err: error }, 'PostgreSQL does not start')
      await pause(pauseMs, stopping)
    }
  }
  return undefined
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    stopping.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
