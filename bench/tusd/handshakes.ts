import { readFileSync } from 'node:fs'
import type { Agent } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { exchange } from '#lib/buckets/exchange.ts'
import { createGuardedAgents } from '#lib/platform/net/guarded-agents.ts'
import { CERTIFICATE } from '../../test/support/certificates.ts'
import type { Finding } from '../cases.ts'
import { percentile } from '../load.ts'
import type { Sink } from '../processes.ts'

const FILES = 300
const ROUNDS = 5
const FILE = Buffer.alloc(4096)

/**
 * Measures the cost of a connection to the process that puts a 4 KiB file: kept open, with a resumed TLS session, and
 * with a full handshake.
 */
export async function benchHandshakes(sink: Sink): Promise<Finding> {
  const ca = readFileSync(CERTIFICATE.cert)
  const agentOf = (options: object) =>
    createGuardedAgents(['*'], { agent: { ca, ...options } as object }).https
  const [kept, resuming, fresh] = [
    agentOf({}),
    agentOf({ keepAlive: false }),
    agentOf({ keepAlive: false, maxCachedSessions: 0 }),
  ]
  const resumed = countResumed(resuming)
  const costs = new Map([kept, resuming, fresh].map((agent) => [agent, [] as number[]]))
  for (let round = 0; round <= ROUNDS; round++)
    for (const [agent, taken] of costs) {
      const before = process.cpuUsage()
      for (let n = 0; n < FILES; n++) await put(sink, agent)
      const { user, system } = process.cpuUsage(before)
      if (round > 0) taken.push((user + system) / 1000 / FILES)
    }
  const [one, again, first] = [...costs.values()].map((taken) => percentile(taken, 0.5).toFixed(2))
  kept.destroy()
  return {
    what: 'TLS to the bucket, a new connection for a file of 4 KiB',
    measured: `CPU ${first} ms with a full handshake, ${again} with a resumed session, ${one} on a kept connection; ${resumed.count} of ${resumed.all} resumed`,
    wanted: 'all but the first resumed',
    holds: resumed.count === resumed.all - 1,
  }
}

function put({ url }: Sink, agent: Agent) {
  return exchange({
    url: new URL(url),
    agent,
    method: 'PUT',
    path: '/media/handshake',
    headers: { 'content-length': String(FILE.length) },
    body: [FILE],
    silenceMs: 10_000,
    deadlineMs: 10_000,
  })
}

/** Counts resumed connections, since agents do not report them. */
function countResumed(agent: Agent) {
  const resumed = { count: 0, all: 0 }
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (...given) => {
    const socket = connect(...given) as TLSSocket
    return socket.once('secureConnect', () => {
      resumed.all += 1
      if (socket.isSessionReused()) resumed.count += 1
    })
  }
  return resumed
}
