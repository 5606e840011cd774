import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, type RequestOptions, request } from 'node:http'
import { urlToHttpOptions } from 'node:url'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { loadConfig } from '#lib/platform/settings/config.ts'
import { createVault } from '#lib/platform/vault.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { buildIfNeeded } from '../scripts/build.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { type Sluice, startSluice, temporaryFolder } from '../test/support/sluice.ts'
import type { Finding } from './cases.ts'

/**
 * Measures the token API at 500 requests per second, through the entire server, on one core if the system can pin a
 * process, with PostgreSQL on the same machine. Requests are sent on a fixed schedule instead of after the previous
 * response, so that a slow response does not give the server a rest.
 */
const PER_SECOND = 500
const WARM_UP_SECONDS = 5
const SECONDS = 20
/** Each Sender may request 100 tokens per second. */
const SENDERS = 8

const MAX_P99_MS = 50
/**
 * With an empty query, the front door leaves the request to Next, which runs the same operation in its route handler.
 */
const PAST_THE_DIRECT_PATH = '/api/v1/tokens?'
const MAX_DIRECT_SHARE = 0.7

export async function benchTokens(postgresUrl: string): Promise<Finding[]> {
  buildIfNeeded()
  const { url, drop } = await createDatabase(postgresUrl)
  using folder = temporaryFolder()
  const env = {
    DATABASE_URL: url,
    DATA_DIR: folder.path,
    HOST: '127.0.0.1',
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    BASE_URL: 'http://localhost',
    LOG_LEVEL: 'warn',
    ROLES: 'web',
    // For example, `BENCH_NODE_FLAGS='--cpu-prof --cpu-prof-dir=/tmp/prof'`.
    NODE_OPTIONS: process.env.BENCH_NODE_FLAGS ?? '',
  }
  const { pipeId, tokens } = await furnish(env)
  const sluice = await startSluice({ ...env, BASE_URL: '', PORT: String(await freePort()) })
  try {
    const oneCore = spawnSync('taskset', ['-a', '-cp', '0', String(sluice.pid)]).status === 0
    const where = oneCore ? 'on one core' : 'on all cores, since taskset is not installed'
    const direct = await measure(sluice, '/api/v1/tokens', pipeId, tokens)
    const routed = await measure(sluice, PAST_THE_DIRECT_PATH, pipeId, tokens)
    return [
      {
        what: `Token API at ${PER_SECOND} requests a second, ${where}: p99`,
        measured: `${direct.p99Ms} ms (median ${direct.p50Ms} ms, ${direct.failed} of ${direct.count} failed)`,
        wanted: `≤ ${MAX_P99_MS} ms, none failed`,
        holds: direct.p99Ms <= MAX_P99_MS && direct.failed === 0,
      },
      {
        what: 'CPU of a token, on the direct path and through the Next route handler',
        measured: `${direct.cpuMs.toFixed(2)} ms and ${routed.cpuMs.toFixed(2)} ms (p99 ${routed.p99Ms} ms through the route, ${routed.failed} of ${routed.count} failed)`,
        wanted: `the direct path is worth keeping while it costs at most ${MAX_DIRECT_SHARE} of the route`,
        holds: direct.cpuMs <= routed.cpuMs * MAX_DIRECT_SHARE,
      },
    ]
  } finally {
    await sluice.stop()
    await drop()
  }
}

async function furnish(env: Record<string, string>): Promise<{ pipeId: string; tokens: string[] }> {
  const config = loadConfig(env)
  const database = openPostgres({ address: config.databaseUrl! })
  await migrate(database.db)
  const runtime = { db: database.db, clock: systemClock, config, vault: createVault(config.encryptionKeys) }
  const account = { email: 'bench@example.com', passwordHash: null, emailVerified: true }
  const { workspaceId, userId } = await createAccount(runtime, account)
  const actor: Actor = { workspaceId, kind: 'user', id: userId, label: account.email, role: 'owner' }
  const dataStore = await createDataStore(runtime, actor, {
    name: 'Bench',
    provider: 'gcs',
    bucket: 'bench',
    accessKeyId: 'KEY',
    secretAccessKey: 'secret',
  })
  const fields = { name: 'Bench', dataStoreId: dataStore.id, source: { http: true } }
  const pipe = await createPipe(runtime, actor, parseInput(pipeInput, fields))
  const senders = await Promise.all(
    Array.from({ length: SENDERS }, (_, n) => createSender(runtime, actor, { name: `Bench ${n}` })),
  )
  await database.close()
  return { pipeId: pipe.id, tokens: senders.map(({ token }) => token) }
}

async function measure({ pid, baseUrl }: Sluice, path: string, pipeId: string, tokens: string[]) {
  const address = { ...urlToHttpOptions(new URL(baseUrl)), path }
  await load(address, pipeId, tokens, WARM_UP_SECONDS)
  const before = cpuMs(pid)
  const times = await load(address, pipeId, tokens, SECONDS)
  return { cpuMs: (cpuMs(pid) - before) / times.length, ...summary(times) }
}

/**
 * The CPU time that a process has used, if the system reports it: user and system time are fields 14 and 15, in
 * hundredths of a second.
 */
function cpuMs(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net')
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** Returns the milliseconds from when each request was due until its response; NaN if that was not a 201. */
async function load(
  address: RequestOptions,
  pipeId: string,
  tokens: string[],
  seconds: number,
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const body = JSON.stringify({ pipeId, expiresIn: 600, metadata: { user: '42' } })
  const startedAt = performance.now()
  const answers: Promise<number>[] = []
  while (answers.length < seconds * PER_SECOND) {
    const due = Math.floor(((performance.now() - startedAt) * PER_SECOND) / 1000)
    while (answers.length < Math.min(due, seconds * PER_SECOND)) {
      const dueAt = startedAt + (answers.length * 1000) / PER_SECOND
      const token = tokens[answers.length % tokens.length]!
      answers.push(
        ask(agent, address, token, body).then((ok) => (ok ? performance.now() - dueAt : Number.NaN)),
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const times = await Promise.all(answers)
  agent.destroy()
  return times
}

function ask(agent: Agent, address: RequestOptions, token: string, body: string): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    }
    const sent = request({ ...address, agent, method: 'POST', headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode === 201))
    })
    sent.once('error', () => resolve(false))
    sent.end(body)
  })
}

function summary(times: number[]) {
  const good = times.filter((time) => !Number.isNaN(time)).sort((a, b) => a - b)
  const at = (share: number) =>
    Math.round((good[Math.floor((good.length - 1) * share)] ?? Number.NaN) * 10) / 10
  return { count: times.length, failed: times.length - good.length, p50Ms: at(0.5), p99Ms: at(0.99) }
}
