import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Runtime } from '../lib/platform/runtime.ts'
import { refuseConnections } from './http/open-server.ts'
import type { Tracing } from './open-tracing.ts'

/** How long work in progress may take to reach a point at which it can stop. */
export const DRAIN_MS = 10_000
/** Longer, because a supervisor waits until its processes have drained. */
export const SUPERVISOR_DRAIN_MS = DRAIN_MS + 4000

export type Part = { stop(): Promise<void> }

/**
 * On SIGTERM, accepts nothing new, lets work in progress reach a point at which it can stop and be recorded, and
 * exits with 0.
 */
export function stopOnSignal(
  runtime: Runtime,
  server: Server,
  { parts, tracing }: { parts: Part[]; tracing: Tracing | undefined },
): void {
  let stopping = false
  /**
   * A database that is down must not prevent the process from ending. Every acknowledged change is already committed.
   */
  const tried = (work: Promise<unknown>) =>
    work.catch((error: unknown) => runtime.log.warn({ err: error }, 'could not stop cleanly'))
  const drainMs = runtime.config.processes > 1 ? SUPERVISOR_DRAIN_MS : DRAIN_MS
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    runtime.log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(0), drainMs).unref()
    const closed = refuseConnections(server)
    const lingered = Promise.race([closed, delay(LINGER_MS)])
    await Promise.all([lingered, ...parts.map((part) => tried(part.stop()))])
    server.close()
    server.closeIdleConnections()
    await closed
    await tried(runtime.queue.stop())
    await tried(runtime.database.close())
    if (tracing) await tried(tracing.stop())
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
}

/** Leaves time for requests that a balancer is about to send over keep-alive connections. */
const LINGER_MS = 300
