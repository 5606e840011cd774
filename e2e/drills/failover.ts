import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seconds } from '#lib/platform/kernel/clock.ts'
import { buildIfNeeded } from '../../scripts/build.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { startPair } from '../../test/support/postgres.ts'
import { randomOf } from '../../test/support/random.ts'
import { metadata, OFFSET_STREAM } from '../../test/support/tus-client.ts'
import { newToken, type Outcome } from '../chaos/client.ts'
import { createLog, type Log } from '../chaos/log.ts'
import { judge, type Period, periodOf, uploadMany } from '../chaos/run.ts'
import { send } from '../chaos/send.ts'
import { openWorld, type World } from '../chaos/world.ts'

/**
 * `npm run drill -- failover`: kills the primary of a pair during uploads and promotes its standby, `--times` times
 * with synchronous and with asynchronous replication. An asynchronous standby is missing the last four seconds of
 * commits. With synchronous replication, nothing may be lost. With asynchronous replication, the last commits are gone,
 * but every remaining record must be true, and every object must equal what its client sent.
 */
const MODES = ['synchronous', 'asynchronous'] as const
type Mode = (typeof MODES)[number]

const BEFORE_MS = seconds(12)
const LOST_MS = seconds(4)
const AWAY_MS = seconds(2)
const AFTER_MS = seconds(10)

/** The effects of lost commits that docs/operations.md describes. */
const TOLD: [RegExp, string][] = [
  [/the offset went back/, 'offsets that went back'],
  [/the receiver got event \S+ that is not recorded/, 'webhooks sent again under a new id'],
  [/a multipart upload with \d+ parts remains/, 'multipart uploads left open'],
  [/is (uploading|undefined), not (transferred|canceled)/, 'files whose end was lost'],
  [/is left over in the bucket; its file is (undefined|uploading|failed)/, 'objects without a file'],
  [
    /is failed, not transferred|failed: unknown|failed: .*no longer/,
    'files that failed because their end was lost',
  ],
]

/** The maximum time between the end of the promotion and the next accepted PATCH. */
const GOAL_MS = seconds(2)

type Round = { mode: Mode; stillMs: number; promotedAfterMs: number; log: Log }

async function round(mode: Mode): Promise<Round> {
  const log = createLog((line) => console.log(line))
  const told = { ...log, violation: (line: string) => explain(mode, log, line) }
  const pair = await startPair({ synchronous: mode === 'synchronous' })
  const openDatabase = async () => ({ url: pair.url(await pair.createDatabase()), drop: async () => {} })
  const random = randomOf(randomBytes(4).toString('hex'))
  const world = await openWorld({ openDatabase }, random.fork('world'), told)
  try {
    const accepted: number[] = []
    const period = periodOf(BEFORE_MS + AWAY_MS + AFTER_MS)
    const uploading = Promise.all([
      uploadMany(world, random, told, period, { mayLoseCommits: mode === 'asynchronous' }),
      drip(world, told, period, () => accepted.push(performance.now())),
    ])
    await sleep(BEFORE_MS)
    let [killedAt, promotedAt] = [0, 0]
    await log.outage(async () => {
      if (mode === 'asynchronous') {
        await pair.cutLine()
        await sleep(LOST_MS)
      }
      killedAt = performance.now()
      await pair.killPrimary()
      await sleep(AWAY_MS)
      await pair.promote()
      promotedAt = performance.now()
    })
    const [{ outcomes, sources }, dripped] = await uploading
    const all = { outcomes: [...outcomes, dripped], sources: [...sources, dripped.source] }
    await judge(world, told, all, () => {})
    const stillMs = accepted.find((at) => at > killedAt + AWAY_MS)! - killedAt
    judgeLines(world, log)
    if (log.violations.length > 0) keepLogs(world, mode)
    return { mode, stillMs, promotedAfterMs: promotedAt - killedAt, log }
  } finally {
    await world.close()
    await pair.stop()
  }
}

const DRIP_MS = 50
const AGAIN_MS = 100

/** Sends one byte at a time, to detect immediately when bytes are accepted again. */
async function drip(world: World, log: Log, period: Period, onAccepted: () => void): Promise<Outcome> {
  const { url } = world.balancer
  const { senderToken, pipes } = world.customer
  const pipeId = pipes[0]!.id
  const bytes = randomBytes(10_000)
  const source = { name: 'dripping.bin', bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
  const token = await newToken({ url, senderToken, log, impatient: () => false }, pipeId)
  const ask = (method: string, at: string, headers: Record<string, string>, body?: Uint8Array) => {
    const common = { 'Tus-Resumable': '1.0.0', Authorization: `Bearer ${token}` }
    return send({ method, url: at, headers: { ...common, ...headers }, ...(body && { body }) })
  }
  const created = await ask('POST', `${url}/pipes/${pipeId}/files/`, {
    'Upload-Length': String(bytes.length),
    'Upload-Metadata': metadata({ filename: source.name }),
  })
  const address = created!.headers.location!
  for (let at = 0; at < bytes.length; ) {
    const end = period.overForMs() < 0 ? at + 1 : bytes.length
    const headers = { 'Upload-Offset': String(at), ...OFFSET_STREAM }
    const patched = await ask('PATCH', address, headers, bytes.subarray(at, end))
    if (patched?.status === 204) onAccepted()
    const is = patched?.status === 204 ? patched : await ask('HEAD', address, {})
    at = Number(is?.headers['upload-offset'] ?? at)
    await sleep(patched?.status === 204 ? DRIP_MS : AGAIN_MS)
  }
  return { source, address, end: 'transferred' }
}

function explain(mode: Mode, log: Log, line: string): void {
  const known = mode === 'asynchronous' && TOLD.find(([pattern]) => pattern.test(line))
  if (known) log.count(known[1])
  else log.violation(line)
}

/** Saves the nodes' output of a failed round. */
function keepLogs({ nodes }: World, mode: Mode): void {
  const folder = join('test-results/failover', `${mode}-${new Date().toISOString()}`)
  mkdirSync(folder, { recursive: true })
  for (const node of nodes) writeFileSync(join(folder, `${node.name}.log`), node.output())
  console.log(`The node logs are in ${folder}.`)
}

type Line = { level?: number; msg?: string; process?: string }

/** How a line starts that a node logs when it starts. */
const ASYNCHRONOUS = 'the standby of the database is asynchronous'

/** Each node may log only one line for the start of the outage, and one for its end. */
function judgeLines({ nodes }: World, log: Log): void {
  for (const node of nodes) {
    const lines = node
      .output()
      .split('\n')
      .flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as Line] : []))
      .filter(({ level = 0, msg = '' }) => level >= 40 && !msg.startsWith(ASYNCHRONOUS))
    // A node that got no CPU time while the database was down logs the first statement that failed.
    if (lines.length > 2) log.violation(`${node.name} logged ${lines.length} lines about the outage`)
    for (const line of lines.filter(({ msg = '' }) => lines.length > 2 || /request failed/.test(msg)))
      log.violation(`${node.name} logged: ${JSON.stringify(line).slice(0, 400)}`)
  }
  for (const what of Object.keys(log.counts))
    if (/responses with 500/.test(what)) log.violation(`${log.counts[what]} ${what}`)
}

function tell({ mode, stillMs, promotedAfterMs, log }: Round): void {
  const counts = Object.entries(log.counts).filter(([what]) => TOLD.some(([, name]) => name === what))
  const files = Object.entries(log.counts).filter(([what]) => /^(files|events)/.test(what))
  console.log(
    [
      `${log.violations.length === 0 ? 'ok  ' : 'FAIL'}  ${mode}: promoted after ${Math.round(promotedAfterMs)} ms`,
      `${Math.round(stillMs)} ms without an accepted PATCH${stillMs > promotedAfterMs + GOAL_MS ? ' (goal missed)' : ''}`,
      ...[...files, ...counts].map(([what, count]) => `${count} ${what}`),
    ].join(', '),
  )
}

async function main(): Promise<boolean> {
  const { values } = readOptions('npm run drill -- failover [--times 10] [--mode asynchronous]', {
    options: { times: { type: 'string', default: '10' }, mode: { type: 'string' } },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  await buildIfNeeded()
  const rounds: Round[] = []
  for (const mode of MODES.filter((name) => !values.mode || values.mode === name))
    for (let n = 0; n < Number(values.times); n++) {
      const done = await round(mode)
      rounds.push(done)
      tell(done)
    }
  return rounds.every(({ log }) => log.violations.length === 0)
}

process.exit((await main()) ? 0 : 1)
