import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { minutes, seconds } from '#lib/platform/kernel/clock.ts'
import { buildIfNeeded } from '../../scripts/build.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { createDatabase, startPgbouncer, startPostgres } from '../../test/support/postgres.ts'
import { type Random, randomOf } from '../../test/support/random.ts'
import { newerSource, olderSource } from '../../test/support/versions.ts'
import { type Outcome, type Site, uploadByHand } from './client.ts'
import { disturb, killAgainAndAgain, killProcesses } from './disturb.ts'
import { createLog, type Log } from './log.ts'
import { checkShares } from './shares.ts'
import { makeSource, type Source } from './source.ts'
import { checkTemporaryKeys } from './temporary-keys.ts'
import { uploadByTusJs } from './tus-js.ts'
import { verify, waitForTheEnd } from './verify.ts'
import { openWorld, type Shape, type World } from './world.ts'

/**
 * The chaos suite: clients upload through a balancer to nodes that are killed, frozen and restarted, while the bucket
 * and the webhook receiver fail and the database loses its sessions. At the end, everything must match to the byte. The
 * same seed leads to the same decisions; their timing depends on the machine.
 */
const CLIENTS = 5
const END_MS = seconds(300)
/** When the upgrade starts, as a fraction of the run's duration. */
const UPGRADE_AFTER = 0.25
/**
 * How many uploads must complete per minute for a run to prove anything: with a server that is killed every five
 * seconds (`embedded`), and with several nodes (`shared`).
 */
const MIN_PER_MINUTE = { embedded: 10, shared: 2 }

/** The time during which uploads are started. `overForMs` is negative until its end. */
export type Period = { overForMs(): number }

export function periodOf(ms: number): Period {
  const endMs = Date.now() + ms
  return { overForMs: () => Date.now() - endMs }
}

type Options = Shape & {
  seed: string
  forMs: number
  say: (line: string) => void
}

/**
 * With an embedded database, all of Sluice is killed repeatedly; with several processes, they are killed one after
 * another.
 */
export async function runChaos({ seed, forMs, say, ...shape }: Options): Promise<Log> {
  const { postgresUrl, processes } = shape
  const random = randomOf(seed)
  const log = createLog(say)
  const trouble = postgresUrl === undefined ? killAgainAndAgain : processes ? killProcesses : disturb
  const world = await openWorld({ ...shape, severalDestinations: true }, random.fork('world'), log)
  log.note(`the nodes are up; the seed is ${seed}`)
  try {
    const period = periodOf(forMs)
    const [done] = await Promise.all([
      uploadMany(world, random, log, period, { hasLanes: shape.versions === undefined }),
      trouble(world, random.fork('disturb'), log, period),
      shape.versions !== undefined && upgradeMidway(world, log, forMs),
    ])
    await judge(world, log, done, say)
    if (processes) checkShares(world, log, processes)
    if (shape.temporaryKeys) checkTemporaryKeys((await world.bucket.report()).temporaryKeys, log, forMs)
    const completed = log.counts['files transferred'] ?? 0
    const least = MIN_PER_MINUTE[postgresUrl === undefined ? 'embedded' : 'shared']
    if (completed < (least * forMs) / minutes(1)) log.violation(`only ${completed} files were transferred`)
    return log
  } finally {
    await world.close()
  }
}

/** Upgrades while uploads to the older version are in progress. */
async function upgradeMidway(world: World, log: Log, forMs: number): Promise<void> {
  await sleep(forMs * UPGRADE_AFTER)
  log.note('the database is upgraded')
  await world.upgrade()
}

/** Waits until nothing is in progress, and then verifies the entire state. */
export async function judge(
  world: World,
  log: Log,
  done: { outcomes: Outcome[]; sources: Source[] },
  say: (line: string) => void,
): Promise<void> {
  log.note('waiting until nothing is in progress')
  await waitForTheEnd(world, log, END_MS)
  await verify(world, log, done)
  if (log.violations.length > 0) for (const node of world.nodes) say(`--- ${node.name}\n${node.output()}`)
}

/** Runs several clients, which start one upload after another until the time is up, and finish those in progress. */
export async function uploadMany(
  world: World,
  random: Random,
  log: Log,
  period: Period,
  { mayLoseCommits = false, hasLanes = true } = {},
) {
  const outcomes: Outcome[] = []
  const sources: Source[] = []
  const { senderToken, issueToken, pipes } = world.customer
  const hasWeb = world.nodes.some(({ roles }) => roles.includes('web'))
  const impatient = () => period.overForMs() > END_MS
  const site: Site = {
    url: world.balancer.url,
    senderToken,
    issueToken: hasWeb ? undefined : issueToken,
    log,
    impatient,
    mayLoseCommits,
    hasLanes,
  }
  const client = async (at: number) => {
    for (let n = 1; period.overForMs() < 0; n++) {
      const own = random.fork(`client ${at}, upload ${n}`)
      const source = makeSource(own, `client-${at}-upload-${n}.bin`)
      sources.push(source)
      const by = own.chance(0.4) ? uploadByTusJs : uploadByHand
      try {
        outcomes.push(await by(site, source, own.pick(pipes).id, own))
        log.count('uploads')
      } catch (error) {
        log.violation(`${source.name} (${source.bytes.length} bytes): ${error}`)
      }
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(at + 1)))
  return { outcomes, sources }
}

/** Creates a database to which the nodes connect through PgBouncer in transaction mode. */
async function openPooled(serverUrl: string) {
  const { url, drop } = await createDatabase(serverUrl)
  const pooler = await startPgbouncer(url, { mode: 'transaction', serverConnections: 50 })
  return {
    url,
    env: { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: url },
    async drop() {
      await pooler.stop()
      await drop()
    },
  }
}

async function main(): Promise<boolean> {
  const { values } = readOptions(
    'npm run chaos [-- --minutes 10] [--seed <seed>] [--embedded] [--processes 4] [--pooler] [--temporary-keys] [--upgrade-from <git ref>]',
    {
      options: {
        minutes: { type: 'string', default: '1' },
        seed: { type: 'string' },
        embedded: { type: 'boolean', default: false },
        processes: { type: 'string' },
        pooler: { type: 'boolean', default: false },
        'temporary-keys': { type: 'boolean', default: false },
        'upgrade-from': { type: 'string' },
      },
    },
  )
  const seed = values.seed ?? randomBytes(4).toString('hex')
  await buildIfNeeded()
  // Child processes end with this process, if it exits normally: see test/support/until-exit.ts.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  if (values.embedded && values['temporary-keys'])
    throw new Error('With --embedded, the server is killed before it would renew temporary keys.')
  const server = values.embedded ? undefined : await startPostgres()
  const say = (line: string) => console.log(line)
  const forMs = minutes(Number(values.minutes))
  const processes = values.processes === undefined ? undefined : Number(values.processes)
  const from = values['upgrade-from']
  const older = from === undefined ? undefined : olderSource(from)
  if (from !== undefined && !older) throw new Error(`The git history does not include ${from}.`)
  const versions = older === undefined ? undefined : { older, newer: newerSource() }
  const running = runChaos({
    seed,
    forMs,
    postgresUrl: server?.url,
    processes,
    versions,
    temporaryKeys: values['temporary-keys'],
    say,
    ...(values.pooler && { openDatabase: () => openPooled(server!.url) }),
  })
  const { counts, violations } = await running.finally(server?.stop)
  for (const what of Object.keys(counts).sort()) console.log(`${String(counts[what]).padStart(12)}  ${what}`)
  for (const violation of violations) console.log(`VIOLATION  ${violation}`)
  const verdict = violations.length === 0 ? 'no violations' : `${violations.length} violations`
  console.log(
    `${verdict}; repeat with: npm run chaos -- --minutes ${values.minutes} --seed ${seed}${values.embedded ? ' --embedded' : ''}${processes ? ` --processes ${processes}` : ''}${values.pooler ? ' --pooler' : ''}${values['temporary-keys'] ? ' --temporary-keys' : ''}${from ? ` --upgrade-from ${from}` : ''}`,
  )
  return violations.length === 0
}

if (import.meta.main) process.exit((await main()) ? 0 : 1)
