import type { ChildProcess } from 'node:child_process'
import cluster, { type Worker } from 'node:cluster'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keepRunning, type Running } from '../../lib/platform/keep-running.ts'
import { StartError } from '../../lib/platform/kernel/errors.ts'
import type { Runtime } from '../../lib/platform/runtime.ts'
import { DRAIN_MS } from '../stop-on-signal.ts'
import { openLine } from './line.ts'
import { type Membership, membershipsOf, writeMembership } from './membership.ts'
import { createSummedMetrics, type SummedMetrics } from './summed-metrics.ts'

const SERVER = join(import.meta.dirname, '../../server.ts')

/**
 * Starts the supervisor's processes, which share one port and are restarted when they end. They get connections in turn
 * (decision 39), and end with the supervisor, even if it is killed.
 */
export async function startProcesses({
  config,
  log,
  metrics,
}: Pick<Runtime, 'config' | 'log' | 'metrics'>): Promise<{ stop(): Promise<void> }> {
  cluster.schedulingPolicy = cluster.SCHED_RR
  // mkdtemp creates a folder that only its owner can open.
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const summed = createSummedMetrics(metrics.registry)
  const all = await Promise.all(
    membershipsOf(config, join(folder, 'pages')).map((membership) =>
      keepRunning(`the process ${membership.name}`, () => startProcess(membership, summed), log),
    ),
  )
  return { stop: async () => void (await Promise.all(all.map((one) => one.stop()))) }
}

/** Resolves when the process responds. */
async function startProcess(membership: Membership, summed: SummedMetrics): Promise<Running> {
  const { name } = membership
  cluster.setupPrimary({ exec: SERVER, args: [name] })
  const worker = cluster.fork(writeMembership(membership))
  closeUntaken(worker.process)
  const ready = Promise.withResolvers<void>()
  const line = openLine(worker, {
    ready: async () => ready.resolve(),
    metrics: () => summed.read(),
  })
  const ended = endOf(worker)
  const gone = ended.then((how) => {
    summed.leave(name)
    throw new StartError(`The process ${name} did not start: ${how}`)
  })
  await Promise.race([ready.promise, gone])
  gone.catch(() => {})
  summed.join(name, line)
  return { ended, stop: () => stop(worker, ended) }
}

function endOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve(`The process ended with ${signal ?? code}.`))
    worker.on('error', (error) => resolve(String(error)))
  })
}

const LATE_MS = 2000

async function stop(worker: Worker, ended: Promise<string>): Promise<void> {
  worker.process.kill('SIGTERM')
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), DRAIN_MS + LATE_MS)
  await ended
  clearTimeout(timer)
}

/**
 * The messages that `node:cluster` sends with a connection, and receives when the process has accepted or refused it.
 */
type SentConnection = { act?: string; seq: number }
type Heard = { ack?: number }
type Connection = { close(): void }

/**
 * Closes the connections that were being passed to a process when it ended. `node:cluster` forgets them but keeps them
 * open, so their clients would wait forever: nodejs/node#21746.
 */
export function closeUntaken(child: ChildProcess): void {
  const untaken = new Map<number, Connection>()
  const send = child.send.bind(child) as (...sent: unknown[]) => boolean
  child.send = (...sent: unknown[]) => {
    const [{ act, seq }, connection] = sent as [SentConnection, Connection]
    if (act === 'newconn') untaken.set(seq, connection)
    return send(...sent)
  }
  child.on('internalMessage', ({ ack }: Heard) => {
    if (ack !== undefined) untaken.delete(ack)
  })
  // At this point, the process has ended, and all its messages have been received.
  child.once('close', () => {
    for (const connection of untaken.values()) connection.close()
  })
}
