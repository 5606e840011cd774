import { days, hours, minutes, seconds } from '#lib/platform/kernel/clock.ts'
import { randomOf } from '../support/random.ts'
import type { Choices } from './choices.ts'
import { emptyLedger } from './core.ts'
import { disturb } from './disturb.ts'
import { assertHolds, Failure } from './failure.ts'
import { Gate } from './gate.ts'
import { drawHabits, type Habits } from './habits.ts'
import { PlainClient, ResumableClient } from './http-clients.ts'
import { Invariants } from './invariants.ts'
import { FATES, Network } from './network.ts'
import { Node } from './node.ts'
import { type Host, Scheduler, type Step } from './scheduler.ts'
import { type BucketAnswer, type BucketRequest, SimulatedBucket } from './simulated-bucket.ts'
import type { SimulatedClient, UploadPlan } from './simulated-client.ts'
import { idle, simulateTime } from './simulated-time.ts'
import { BUCKETS, type Site } from './site.ts'
import { Trace } from './trace.ts'
import { JoiningClient, PieceClient, TusClient } from './tus-clients.ts'

/** More than any finishing run needs. */
const MAX_STEPS = 20_000
const REST_MS = seconds(25)

/** One run: some nodes, a bucket and clients, and everything that happens to them, according to the choices. */
export class World {
  readonly site: Site
  readonly choices: Choices
  readonly scheduler = new Scheduler()
  readonly trace = new Trace(this.scheduler)
  readonly habits: Habits
  readonly buckets: ReadonlyMap<string, SimulatedBucket>
  readonly gate: Gate
  readonly nodes: Node[]
  readonly clients: SimulatedClient[]
  readonly invariants = new Invariants(this)
  /** Who has or had each lease. */
  readonly adopted = new Map<string, Host>()
  /** The most important steps, each with its file and node. */
  readonly milestones: string[] = []
  /** Until this ends, disturbances occur. */
  isTroubled = true
  /** Something happened after which an upload may fail. */
  mayFail = false
  #failure: unknown

  constructor(site: Site, choices: Choices, seed: string) {
    this.site = site
    this.choices = choices
    simulateTime(this.scheduler, seed)
    const { scheduler } = this
    this.habits = drawHabits(choices)
    const destinations = this.habits.destinations.map((one, n) => ({ name: BUCKETS[n]!, ...one }))
    this.buckets = new Map(destinations.map((one) => [one.name, new SimulatedBucket(one.name, one)]))
    const fates = new Map<string, number[]>(destinations.map(({ name, fates }) => [name, fates]))
    const troubled = (percent: number) => (this.isTroubled ? percent : 0)
    this.gate = new Gate(site.sessions, {
      scheduler,
      choices,
      lostPercent: () => troubled(this.habits.lostPercent),
      slowPercent: () => troubled(this.habits.slowPercent),
      committed: (by) => this.invariants.committed(by),
      notified: (notice) => {
        for (const node of this.nodes) node.notify(notice)
      },
    })
    new Network({
      scheduler,
      choices,
      buckets: this.buckets,
      weights: (bucket) => (this.isTroubled ? fates.get(bucket)! : FATES.map((_, n) => (n === 0 ? 1 : 0))),
      sending: (...sent) => this.invariants.sending(...sent),
      arrived: (host, operation, request, answer) => this.#arrived(host, operation, request, answer),
    })
    this.nodes = this.habits.skewsMs.map((skewMs, n) => new Node(this, 'ABC'[n]!, skewMs))
    this.clients = this.habits.plans.map((plan, n) =>
      this.#clientOf(plan, `file-${n + 1}`, sourceOf(seed, n, plan.bytes)),
    )
  }

  /** Ends when everything has finished; throws an invariant's failure. */
  async run(): Promise<void> {
    try {
      await emptyLedger(this.site.sessions.own)
      await this.site.configure(this.habits)
      for (const node of this.nodes) await node.start()
      const uploads = this.clients.map((client) => this.watched(client.run()))
      let isOver = false
      void Promise.all(uploads).then(() => {
        isOver = true
      })
      while (this.trace.steps < this.habits.troubledSteps && !isOver) await this.step()
      await this.heal()
      void this.watched(this.#sweepOn(() => isOver))
      while (!isOver) await this.step()
      await this.#comeToRest()
      await this.invariants.ended()
    } finally {
      for (const { host } of this.nodes) host.state = 'dead'
      await this.gate.close().catch(() => {})
    }
  }

  #clientOf(plan: UploadPlan, name: string, source: Buffer): SimulatedClient {
    if (plan.protocol === 'http') return new PlainClient(this, name, source, plan)
    if (plan.protocol === 'resumable-http') return new ResumableClient(this, name, source, plan)
    if (plan.protocol === 'tus') return new TusClient(this, name, source, plan)
    const client = new JoiningClient(this, name, source, plan)
    const ends = [...plan.cuts, source.length]
    client.pieces = ends.map((end, n) => {
      const bytes = source.subarray(plan.cuts[n - 1] ?? 0, end)
      return new PieceClient(this, `${name}-piece-${n + 1}`, bytes, plan)
    })
    return client
  }

  /** Takes one step. */
  async step(): Promise<void> {
    await idle()
    if (this.#failure !== undefined) throw this.#failure
    this.invariants.stepped()
    if (this.isTroubled && (await disturb(this))) await idle()
    let ready = this.scheduler.ready()
    while (ready.length === 0) {
      const next = this.scheduler.nextDueMs
      assertHolds('something can always happen', next !== undefined, () => 'every step waits for another')
      this.scheduler.nowMs = next!
      ready = this.scheduler.ready()
    }
    const isInOrder = !this.choices.percent(this.habits.shufflePercent)
    await this.take(isInOrder ? ready[0]! : this.choices.pick(ready))
  }

  async take(step: Step): Promise<void> {
    this.scheduler.take(step)
    this.scheduler.nowMs += 1
    this.trace.step(step)
    if (this.trace.steps > MAX_STEPS) throw new Failure('every upload ends', `not within ${MAX_STEPS} steps`)
    await step.run()
  }

  async heal(): Promise<void> {
    this.isTroubled = false
    this.trace.note('from here on nothing goes wrong')
    for (const node of this.nodes) {
      if (node.host.state === 'frozen') node.host.state = 'up'
      if (node.host.state === 'dead') await node.start()
    }
  }

  pause(actor: string, ms: number): Promise<void> {
    const dueMs = this.scheduler.nowMs + ms
    return this.scheduler.parked({ actor, label: `has waited ${ms} ms`, dueMs, quiet: true }, () => {})
  }

  violated(failure: unknown): void {
    this.#failure ??= failure
  }

  /** A failure in it ends the run. */
  watched<Result>(work: Promise<Result>): Promise<Result> {
    work.catch((error: unknown) => this.violated(error))
    return work
  }

  #arrived(host: Host, operation: string, request: BucketRequest, { status }: BucketAnswer): void {
    const { bucket, key, query } = request
    const name = key.split('/').at(-1)!
    const number = query.get('partNumber')
    const what = `${operation}${number === null ? '' : ` ${number}`} of ${name} from node ${host.name}`
    this.milestone(bucket, status < 300 ? `accepts ${what}` : `refuses ${what} with ${status}`)
    this.invariants.arrived(operation, request)
  }

  /** `where`: in the ledger or in a bucket. */
  milestone(where: string, what: string): void {
    this.milestones.push(`${where}: ${what}`)
    this.trace.note(`${where}: ${what}`)
  }

  /** Like real nodes' timers, but in turns. */
  async #sweepOn(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.pause('sweeps', 5000)
      await this.#sweepOnce()
    }
  }

  async #sweepOnce(): Promise<void> {
    const node = this.choices.pick(this.nodes)
    for (const name of node.sweeps) await node.sweep(name)
  }

  /** Until nothing is open: first as if within minutes, then after an hour, a day and a month. */
  async #comeToRest(): Promise<void> {
    const leapsMs = [0, minutes(1), hours(2), hours(25), hours(25), days(32), minutes(1)]
    for (const leapMs of leapsMs) {
      this.scheduler.nowMs += leapMs
      if (this.#isAtRest()) return
      const untilMs = this.scheduler.nowMs + REST_MS
      let isSwept = false
      void this.watched(this.#sweepOnce()).then(() => {
        isSwept = true
      })
      while (!isSwept || (this.scheduler.nowMs < untilMs && !this.#isIdle())) await this.step()
    }
  }

  #isIdle(): boolean {
    return this.nodes.every(({ core }) => core && core.held.size === 0 && core.usedBytes() === 0)
  }

  #isAtRest(): boolean {
    const { files } = this.invariants.ledger
    const areClosed = files.every(
      ({ status, leaseUntil, reservedBytes, countedBytes, offsetBytes }) =>
        !status.endsWith('ing') && leaseUntil === null && reservedBytes === 0 && countedBytes === offsetBytes,
    )
    return areClosed && this.#isIdle()
  }
}

function sourceOf(seed: string, n: number, bytes: number): Buffer {
  return randomOf(`${seed}/source ${n}`).bytes(bytes)
}
