import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { minutes, seconds } from '#lib/platform/kernel/clock.ts'
import type { Effect, Fault } from '../../test/support/bucket-faults.ts'
import type { Random } from '../../test/support/random.ts'
import { commandOf, descendantsOf } from '../../test/support/sluice.ts'
import { SPARE_BUCKET } from './customer.ts'
import type { Log } from './log.ts'
import type { Node, Role } from './nodes.ts'
import type { Period } from './run.ts'
import type { World } from './world.ts'

/** Longer than a lease, so that the frozen node resumes as a writer that was presumed dead. */
const LONG_FREEZE_MS = 18_000
/** Simulates a suspended machine. During this time, several leases are acquired and expire. */
const MINUTE_FREEZE_MS = minutes(1)
/** The pause between two of these freezes. */
const MINUTE_FREEZE_PAUSE_MS = [seconds(30), seconds(90)] as const

/**
 * A node runs for at least this long. Otherwise, on a machine where starting is slow, it would nearly always be down,
 * and nothing would be uploaded.
 */
const MIN_LIFE_MS = seconds(10)

type Disturbance = (world: World, random: Random, log: Log) => Promise<void>

const DISTURBANCES: Disturbance[] = [
  killNode('upload'),
  killNode('upload'),
  killNode('worker'),
  killNode('web'),
  freezeNode('upload'),
  freezeNode('upload'),
  freezeNode('worker'),
  restartNode('upload'),
  restartNode('worker'),
  cutClients,
  cutDatabase,
  breakBucket,
  breakBucket,
  breakBucket,
  breakSpareBucket,
  breakSpareBucket,
  holdPart,
  holdPart,
]

/** Injects one failure after another until the time is up. Long failures overlap with the next one. */
export async function disturb(world: World, random: Random, log: Log, period: Period): Promise<void> {
  const running = new Set([freezeForMinutes(world, random.fork('minute freezes'), log, period)])
  while (period.overForMs() < 0) {
    await sleep(random.whole(200, 2500))
    const part = random.fork(`disturbance ${log.counts.disturbances ?? 0}`)
    log.count('disturbances')
    const disturbance = random.pick(DISTURBANCES)(world, part, log)
    running.add(disturbance)
    void disturbance.finally(() => running.delete(disturbance))
  }
  await Promise.all(running)
  world.bucket.order('mend')
  world.receiver.calm()
}

const LIFE_MS = 5000

/** Kills all of Sluice a few seconds after each start, half of the time along with its PostgreSQL. */
export async function killAgainAndAgain(
  { nodes: [node], dataDir }: World,
  random: Random,
  log: Log,
  period: Period,
): Promise<void> {
  for (;;) {
    await sleep(LIFE_MS)
    if (period.overForMs() >= 0) return
    log.note('kill -9')
    log.count('kills')
    await log.outage(async () => {
      if (random.chance(0.5)) {
        log.count('kills that included PostgreSQL')
        process.kill(Number.parseInt(readFileSync(join(dataDir, 'db/postmaster.pid'), 'utf8'), 10), 'SIGKILL')
      }
      await node!.kill()
      await node!.start()
    })
  }
}

/** Kills one of a node's processes after another. The supervisor restarts them. */
export async function killProcesses(
  { nodes: [node] }: World,
  random: Random,
  log: Log,
  period: Period,
): Promise<void> {
  let spared: string[] = []
  for (;;) {
    await sleep(LIFE_MS)
    if (period.overForMs() >= 0) return
    const running = processesOf(node!)
    // All processes are killed once per round, so that their shares of the work can be compared.
    if (spared.length === 0) spared = [...running.keys()].sort()
    const name = random.pick(spared)
    spared = spared.filter((one) => one !== name)
    const pid = running.get(name)
    if (pid === undefined) continue
    log.note(`kill -9 ${name}`)
    log.count('process kills')
    await log.outage(async () => process.kill(pid, 'SIGKILL'))
  }
}

/** A node's processes by name, which is the argument after the program. */
function processesOf({ pid }: Node): Map<string, number> {
  const named = descendantsOf(pid!).map(
    (one) => [commandOf(one).match(/server\.ts (\S+)$/)?.[1], one] as const,
  )
  return new Map(named.flatMap(([name, one]) => (name ? [[name, one]] : [])))
}

function aNode(world: World, role: Role, random: Random): Node | undefined {
  const up = world.nodes.filter((node) => node.roles.includes(role) && node.upForMs >= MIN_LIFE_MS)
  return up.length === 0 ? undefined : random.pick(up)
}

function killNode(role: Role): Disturbance {
  return async (world, random, log) => {
    const node = aNode(world, role, random)
    if (!node) return
    log.note(`kill -9 ${node.name}`)
    log.count('kills')
    await log.outage(async () => {
      await node.kill()
      await sleep(random.whole(0, 1500))
    })
    await node.start()
  }
}

function freezeNode(role: Role): Disturbance {
  return async (world, random, log) => {
    const node = aNode(world, role, random)
    const ms = random.chance(0.2) ? LONG_FREEZE_MS : random.whole(300, 6000)
    if (node) await freeze(node, ms, log)
  }
}

/** Freezes upload nodes for a minute each, if the run is long enough. */
async function freezeForMinutes(world: World, random: Random, log: Log, period: Period): Promise<void> {
  for (;;) {
    const pauseMs = random.whole(...MINUTE_FREEZE_PAUSE_MS)
    if (period.overForMs() + pauseMs + MINUTE_FREEZE_MS > 0) return
    await sleep(pauseMs)
    const node = aNode(world, 'upload', random)
    if (!node) continue
    log.count('freezes for a minute')
    await freeze(node, MINUTE_FREEZE_MS, log)
  }
}

async function freeze(node: Node, ms: number, log: Log): Promise<void> {
  log.note(`freeze ${node.name} for ${ms} ms`)
  log.count('freezes')
  await log.outage(async () => {
    node.freeze()
    await sleep(ms)
    node.thaw()
  })
}

function restartNode(role: Role): Disturbance {
  return async (world, random, log) => {
    const node = aNode(world, role, random)
    if (!node) return
    log.note(`restart ${node.name}`)
    log.count('restarts')
    const code = await node.stop()
    if (code !== 0) log.violation(`${node.name} exited with ${code} on SIGTERM`)
    await node.start()
  }
}

async function cutClients({ balancer }: World, random: Random, log: Log): Promise<void> {
  log.note('cut half of the connections')
  log.count('connection cuts')
  balancer.cut(() => random.chance(0.5))
}

async function cutDatabase({ database }: World, _: Random, log: Log): Promise<void> {
  log.note('end all database sessions')
  log.count('database session cuts')
  await log.outage(() =>
    database.db.execute(sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`),
  )
}

/**
 * Kills a node while a part is in flight, so that the part arrives after another node has taken over. The bucket does
 * not know which node sent the part, so the killed node may be a different one.
 */
async function holdPart(world: World, random: Random, log: Log): Promise<void> {
  const forMs = random.whole(LONG_FREEZE_MS, 2 * LONG_FREEZE_MS)
  log.note(`hold back a part for ${forMs} ms, and kill a node`)
  const held = world.bucket.news('held')
  const late = world.bucket.news('late')
  world.bucket.order({ hold: { forMs } })
  await held
  await killNode('upload')(world, random, log)
  const { late: statuses } = await late
  log.count('parts held back', statuses.length)
  log.count('parts that arrived late', statuses.filter((status) => status === 200).length)
}

const OPERATIONS = [
  'any',
  'PutObject',
  'CreateMultipartUpload',
  'UploadPart',
  'CompleteMultipartUpload',
] as const

async function breakBucket({ bucket }: World, random: Random, log: Log): Promise<void> {
  const fault: Fault = {
    operation: random.pick(OPERATIONS),
    at: random.pick(['request', 'body', 'answer']),
    call: random.whole(1, 3),
    times: random.whole(1, 4),
    effect: anEffect(random),
  }
  log.note(`bucket: ${JSON.stringify(fault)}`)
  log.count('bucket faults')
  bucket.order({ fault })
}

/**
 * Longer than anyone waits for a best-effort destination. A Complete may take many minutes, during which it would keep
 * one of the few places for repairs of its bucket.
 */
const STALL_MS = minutes(1)

/** Breaks the best-effort bucket for long enough that uploads continue without it. */
async function breakSpareBucket({ bucket }: World, random: Random, log: Log): Promise<void> {
  const effect = random.pick<Effect>([
    { kind: 'refuse', status: 403, code: 'AccessDenied' },
    { kind: 'refuse', status: 503, code: 'SlowDown' },
    { kind: 'cut' },
    { kind: 'delay', delayMs: STALL_MS },
  ])
  const fault: Fault = {
    operation: random.pick(OPERATIONS),
    bucket: SPARE_BUCKET,
    times: random.whole(5, 30),
    effect,
  }
  log.note(`best-effort bucket: ${JSON.stringify(fault)}`)
  log.count('best-effort bucket faults')
  bucket.order({ fault })
}

function anEffect(random: Random): Effect {
  return random.pick<Effect>([
    { kind: 'refuse', status: 500, code: 'InternalError' },
    { kind: 'refuse', status: 503, code: 'SlowDown' },
    { kind: 'refuse', status: 200, code: 'InternalError' },
    { kind: 'cut' },
    { kind: 'cut' },
    { kind: 'delay', delayMs: random.whole(100, 4000) },
  ])
}
