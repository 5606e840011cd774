import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { seconds } from '#lib/platform/kernel/clock.ts'
import { buildIfNeeded } from '../../scripts/build.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { startPair } from '../../test/support/postgres-pair.ts'
import { randomOf } from '../../test/support/random.ts'
import { createLog, type Log } from '../chaos/log.ts'
import { judge, periodOf, uploadMany } from '../chaos/run.ts'
import { openWorld, type World } from '../chaos/world.ts'

/**
 * `npm run drill -- failover`: the primary of a pair is killed under uploads and its standby promoted, synchronous and
 * asynchronous, each `--times` times. An asynchronous standby lacks the last four seconds of commits. With a synchronous one
 * nothing may be lost; with an asynchronous one every file that its client saw finished has to be transferred and told of
 * within a minute, and every object has to be what its client sent.
 */
const MODES = ['synchronous', 'asynchronous'] as const
type Mode = (typeof MODES)[number]

const BEFORE_MS = seconds(12)
const LOST_MS = seconds(4)
const AWAY_MS = seconds(2)
const AFTER_MS = seconds(10)

/** What docs/operations.md says of commits that are lost. */
const TOLD: [RegExp, string][] = [
  [/the offset went back/, 'offsets that went back'],
  [/the receiver got event \S+ that is not recorded/, 'webhooks sent again under a new id'],
  [/has another CRC32 than its file/, 'files without a checksum'],
  [/a multipart upload with \d+ parts is left/, 'multipart uploads left open'],
]

type Round = { mode: Mode; stillMs: number; promotedAfterMs: number; lines: number; log: Log }

async function round(mode: Mode): Promise<Round> {
  const log = createLog((line) => console.log(line))
  const told = { ...log, violation: (line: string) => explain(mode, log, line) }
  const pair = await startPair({ synchronous: mode === 'synchronous' })
  const openDatabase = async () => ({ url: pair.url(await pair.createDatabase()), drop: async () => {} })
  const random = randomOf(randomBytes(4).toString('hex'))
  const world = await openWorld({ openDatabase }, random.fork('world'), told)
  try {
    const accepted: number[] = []
    const uploading = uploadMany(world, random, told, periodOf(BEFORE_MS + AWAY_MS + AFTER_MS), () =>
      accepted.push(performance.now()),
    )
    await sleep(BEFORE_MS)
    if (mode === 'asynchronous') {
      await pair.cutLine()
      await sleep(LOST_MS)
    }
    const killedAt = performance.now()
    await pair.killPrimary()
    await sleep(AWAY_MS)
    await pair.promote()
    const promotedAfterMs = performance.now() - killedAt
    const done = await uploading
    const around = accepted.filter((at) => at > killedAt - LOST_MS)
    const stillMs = Math.max(...around.slice(1).map((at, n) => at - around[n]!))
    await judge(world, told, done, () => {})
    return { mode, stillMs, promotedAfterMs, lines: judgeLines(world, log), log }
  } finally {
    await world.close()
    await pair.stop()
  }
}

function explain(mode: Mode, log: Log, line: string): void {
  const known = mode === 'asynchronous' && TOLD.find(([pattern]) => pattern.test(line))
  if (known) log.count(known[1])
  else log.violation(line)
}

type Line = { level?: number; msg?: string; process?: string }

/** One for the start and one for the end of the outage on each node, and no failed request. */
function judgeLines({ nodes }: World, log: Log): number {
  let most = 0
  for (const node of nodes) {
    const lines = node
      .output()
      .split('\n')
      .flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as Line] : []))
    const away = lines.filter(({ msg }) => msg === 'the database does not answer').length
    const failed = lines.filter(({ msg }) => /request failed/.test(msg ?? ''))
    if (away > 1) log.violation(`${node.name} tells of ${away} outages`)
    for (const line of failed) log.violation(`${node.name}: ${JSON.stringify(line).slice(0, 400)}`)
    most = Math.max(most, lines.filter(({ level = 0 }) => level >= 40).length)
  }
  for (const what of Object.keys(log.counts))
    if (/answered with 500/.test(what)) log.violation(`${log.counts[what]} ${what}`)
  return most
}

async function main(): Promise<boolean> {
  const { values } = readOptions('npm run drill -- failover [--times 10] [--mode asynchronous]', {
    options: { times: { type: 'string', default: '10' }, mode: { type: 'string' } },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  buildIfNeeded()
  const rounds: Round[] = []
  for (const mode of MODES.filter((name) => !values.mode || values.mode === name))
    for (let n = 0; n < Number(values.times); n++) rounds.push(await round(mode))
  for (const { mode, stillMs, promotedAfterMs, lines, log } of rounds) {
    const counts = Object.entries(log.counts).filter(([what]) => TOLD.some(([, name]) => name === what))
    const files = Object.entries(log.counts).filter(([what]) => /^(files|events)/.test(what))
    console.log(
      [
        `${log.violations.length === 0 ? 'ok  ' : 'FAIL'}  ${mode}: promoted after ${Math.round(promotedAfterMs)} ms`,
        `${Math.round(stillMs)} ms without an accepted PATCH, at most ${lines} lines of a node`,
        ...[...files, ...counts].map(([what, count]) => `${count} ${what}`),
      ].join(', '),
    )
  }
  return rounds.every(({ log }) => log.violations.length === 0)
}

process.exit((await main()) ? 0 : 1)
