import { hours } from '#lib/platform/kernel/clock.ts'
import type { Node } from './node.ts'
import type { Host, Scheduler } from './scheduler.ts'
import { sentenceOf } from './trace.ts'
import type { World } from './world.ts'

/** What can go wrong between two steps, apart from faults of a single request or statement. */
export const DISTURBANCES = {
  passTime,
  sweep,
  kill,
  freeze,
  stop,
  missNotices: (_: World, node: Node) => node.missNotices(),
  loseClient,
  passMuchTime,
  delay,
  dropMultipart,
  passHours,
  strand,
} satisfies Record<string, (world: World, node: Node) => void | Promise<void>>
export type Disturbance = keyof typeof DISTURBANCES

/** Returns true if something was disturbed. */
export async function disturb(world: World): Promise<boolean> {
  const { choices, habits } = world
  const all = Object.keys(DISTURBANCES) as Disturbance[]
  const chosen = choices.weighted([1000, ...all.map((name) => habits.disturbances[name])])
  if (chosen === 0) return false
  await DISTURBANCES[all[chosen - 1]!](world, choices.pick(world.nodes))
  return true
}

function passTime({ scheduler, choices, trace }: World): void {
  const ms = choices.pick([100, 500, 2_000, 5_000])
  scheduler.nowMs += ms
  trace.note(`${ms} ms pass`)
}

/** Longer than a lease lasts. */
function passMuchTime({ scheduler, choices, trace }: World): void {
  const ms = choices.pick([16_000, 31_000, 61_000])
  scheduler.nowMs += ms
  trace.note(`${ms} ms pass`)
}

/** Reservations lapse, and an upload whose client may not know its address expires. Sweeps that are due run afterwards. */
function passHours(world: World): void {
  world.mayFail = true
  world.hasIdled = true
  world.scheduler.nowMs += hours(2)
  world.trace.note('two hours pass')
  void world.watched(world.sweepOnce())
}

function sweep(world: World, node: Node): void {
  if (node.host.state !== 'up') return
  const name = world.choices.pick(node.sweeps)
  world.trace.note(`node ${node.host.name} sweeps: ${name}`)
  void world.watched(node.sweep(name))
}

async function kill(world: World, node: Node): Promise<void> {
  if (node.host.state === 'dead') return
  world.trace.note(`node ${node.host.name} dies`)
  await node.kill()
  restart(world, node)
}

export function restart(world: World, node: Node): void {
  const dueMs = world.scheduler.nowMs + world.choices.pick([500, 5_000, 20_000])
  const run = () => (node.host.state === 'dead' ? node.start() : undefined)
  world.scheduler.park({ actor: 'operator', label: 'starts a node', dueMs, run })
}

function freeze({ choices, scheduler, trace }: World, { host }: Node): void {
  if (host.state !== 'up') return
  trace.note(`node ${host.name} freezes`)
  freezeFor(choices.pick([1_000, 14_000, 17_000, 40_000]), scheduler, host)
}

function freezeFor(ms: number, scheduler: Scheduler, host: Host): void {
  host.state = 'frozen'
  const run = () => {
    if (host.state === 'frozen') host.state = 'up'
  }
  const dueMs = scheduler.nowMs + ms
  scheduler.park({ actor: 'machine', label: `lets node ${host.name} go on`, dueMs, run })
}

function stop(world: World, node: Node): void {
  if (node.host.state !== 'up' || !node.core) return
  world.trace.note(`node ${node.host.name} is told to stop`)
  void world.watched(node.drain().then(() => restart(world, node)))
}

/**
 * A node pauses until its leases have expired, and its clients go elsewhere, so that it resumes after other nodes have
 * taken over.
 */
function strand({ choices, scheduler, trace }: World, node: Node): void {
  const { host } = node
  if (host.state !== 'up' || node.exchanges.size === 0) return
  trace.note(`node ${host.name} freezes, and its clients stop waiting`)
  for (const exchange of [...node.exchanges]) exchange.giveUp()
  freezeFor(choices.pick([17_000, 25_000, 40_000]), scheduler, host)
}

/** A statement, a request or a response takes very long. */
function delay({ choices, scheduler, trace }: World): void {
  const steps = scheduler.ready().filter(({ quiet }) => !quiet)
  if (steps.length === 0) return
  const step = choices.pick(steps)
  const ms = choices.pick([1_000, 16_000, 20_000, 45_000])
  step.dueMs = scheduler.nowMs + ms
  trace.note(`${ms} ms pass before this happens: ${sentenceOf(step)}`)
}

/** A lifecycle rule removes unfinished uploads, at the earliest a day after their start. */
function dropMultipart(world: World): void {
  const { buckets, choices, scheduler, trace } = world
  const open = [...buckets.values()].flatMap(({ multiparts }) =>
    [...multiparts.keys()].map((id) => ({ multiparts, id })),
  )
  if (open.length === 0) return
  world.mayFail = true
  scheduler.nowMs += hours(25)
  const { multiparts, id } = choices.pick(open)
  multiparts.delete(id)
  trace.note(`25 hours pass, and ${id} is dropped`)
}

function loseClient({ choices, trace }: World, node: Node): void {
  const exchanges = [...node.exchanges]
  if (exchanges.length === 0) return
  trace.note('a client stops waiting')
  choices.pick(exchanges).giveUp()
}
