import { days, hours, minutes, seconds } from '#lib/platform/kernel/clock.ts'
import { randomOf } from '../support/random.ts'
import type { Choices } from './choices.ts'
import { emptyLedger } from './core.ts'
import { disturb } from './disturb.ts'
import { assertHolds, Failure } from './failure.ts'
import { FolderClient } from './folder-client.ts'
import { Gate } from './gate.ts'
import { drawHabits, fatesOf, type Habits, statementHabits } from './habits.ts'
import { PlainClient, ResumableClient } from './http-clients.ts'
import { ImportClient } from './import-client.ts'
import { Invariants } from './invariants.ts'
import { FATES, Network } from './network.ts'
import { Node } from './node.ts'
import { Receiver } from './receiver.ts'
import { type Host, Scheduler, type Step } from './scheduler.ts'
import { type BucketAnswer, type BucketRequest, SimulatedBucket } from './simulated-bucket.ts'
import { DECLARED, type SimulatedClient, type UploadPlan } from './simulated-client.ts'
import { SimulatedSource } from './simulated-source.ts'
import { idle, simulateTime } from './simulated-time.ts'
import { BUCKETS, type Site } from './site.ts'
import { Swarm } from './swarm.ts'
import { Trace } from './trace.ts'
import { JoiningClient, LanesClient, PieceClient, TusClient } from './tus-clients.ts'

/** More steps than any run that finishes needs. */
const MAX_STEPS = 20_000
/** The maximum including timers, which do not count towards a run's own number of troubled steps. */
const MAX_TROUBLED_STEPS = 2_000
const RANKS = 1_000
const REST_MS = seconds(25)
const NO_FAULTS = FATES.map((_, n) => (n === 0 ? 1 : 0))

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
  readonly receiver: Receiver
  readonly invariants = new Invariants(this)
  /** The host that has or had each lease. */
  readonly adopted = new Map<string, Host>()
  /** The most important steps, each with its file and node. */
  readonly milestones: string[] = []
  /** Whether disturbances still occur. */
  isTroubled = true
  /** Whether something has happened after which an upload may fail. */
  mayFail = false
  /** Whether the clock has been moved forward by hours. */
  hasIdled = false
  #ranking = 0
  #failure: unknown

  constructor(site: Site, choices: Choices, seed: string, habits = drawHabits(choices)) {
    this.site = site
    this.choices = choices
    simulateTime(this.scheduler, seed)
    const { scheduler } = this
    this.habits = habits
    const destinations = this.habits.destinations.map((one, n) => ({ name: BUCKETS[n]!, ...one }))
    this.buckets = new Map(destinations.map((one) => [one.name, new SimulatedBucket(one.name, one)]))
    const troubled = (percent: number) => (this.isTroubled ? percent : 0)
    this.gate = new Gate(site.sessions, {
      scheduler,
      choices,
      lostPercent: (label) => troubled(statementHabits(this.habits, label).lost),
      slowPercent: (label) => troubled(statementHabits(this.habits, label).slow),
      latePercent: (label) => troubled(statementHabits(this.habits, label).late),
      committed: (by) => this.invariants.committed(by),
      notified: (notice) => {
        for (const node of this.nodes) node.notify(notice)
      },
    })
    new Network({
      scheduler,
      choices,
      buckets: this.buckets,
      weights: (bucket, operation) =>
        this.isTroubled ? fatesOf(this.habits, BUCKETS.indexOf(bucket), operation) : NO_FAULTS,
      sending: (...sent) => this.invariants.sending(...sent),
      arrived: (host, operation, request, answer) => this.#arrived(host, operation, request, answer),
    })
    new SimulatedSource(this)
    this.receiver = new Receiver({
      scheduler,
      choices,
      isTroubled: () => this.isTroubled,
      nameOf: (fileId) => this.invariants.nameOf(fileId),
      decide: (fileId, allow) => this.#decide(fileId, allow),
    })
    this.nodes = this.habits.skewsMs.map((skewMs, n) => new Node(this, 'ABC'[n]!, skewMs))
    this.clients = this.habits.plans.map((plan, n) =>
      this.#clientOf(plan, `file-${n + 1}`, sourceOf(seed, n, plan)),
    )
  }

  /** Resolves when everything has finished, and rejects with an invariant's failure. */
  async run(): Promise<void> {
    try {
      await emptyLedger(this.site.sessions.own)
      await this.site.configure(this.habits)
      for (const node of this.nodes) await node.start()
      const { sweeps, troubledSteps } = this.habits
      const uploads = this.clients.map((client) => this.watched(this.#run(client)))
      let isOver = false
      void Promise.all(uploads).then(() => {
        isOver = true
      })
      if (sweeps) void this.watched(this.#sweepOn(() => isOver))
      while (this.trace.loudSteps < troubledSteps && this.trace.steps < MAX_TROUBLED_STEPS && !isOver)
        await this.step()
      await this.heal()
      if (!sweeps) void this.watched(this.#sweepOn(() => isOver))
      while (!isOver) await this.step()
      await this.#comeToRest()
      await this.invariants.ended()
    } finally {
      for (const { host } of this.nodes) host.state = 'dead'
      await this.gate.close().catch(() => {})
    }
  }

  async #run(client: SimulatedClient): Promise<void> {
    const isPossible = () => !client.plan.startsLate || this.hasIdled || !this.isTroubled
    await this.scheduler.parked({ actor: client.name, label: 'begins', isPossible }, () => {})
    await client.run()
  }

  #clientOf(plan: UploadPlan, name: string, source: Buffer): SimulatedClient {
    if (plan.protocol === 'http') return new PlainClient(this, name, source, plan)
    if (plan.protocol === 'resumable-http') return new ResumableClient(this, name, source, plan)
    if (plan.protocol === 'folder') return new FolderClient(this, name, source, plan)
    if (plan.protocol === 'import') return new ImportClient(this, name, source, plan)
    if (plan.protocol === 'lanes') return new LanesClient(this, name, source, plan)
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
      assertHolds('there is always a possible step', next !== undefined, () => 'every step waits for another')
      this.scheduler.nowMs = next!
      ready = this.scheduler.ready()
    }
    await this.take(this.#next(ready))
  }

  #next(ready: readonly Step[]): Step {
    const { choices, habits, isTroubled } = this
    const { rerankPercent, shufflePercent } = habits
    if (isTroubled && rerankPercent !== undefined) {
      if (choices.percent(rerankPercent) || this.#ranking === 0) this.#ranking = choices.below(2 ** 16)
      return highest(ready, new Swarm(this.#ranking))
    }
    return choices.percent(shufflePercent) ? choices.pick(ready) : ready[0]!
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

  /** Ends the run if the work fails. */
  watched<Result>(work: Promise<Result>): Promise<Result> {
    work.catch((error: unknown) => this.violated(error))
    return work
  }

  async #decide(fileId: string, allow: boolean): Promise<boolean> {
    const up = this.nodes.filter(({ host, core }) => core && host.state === 'up')
    if (up.length === 0) return false
    const node = this.choices.pick(up)
    const decided = node
      .on(() => node.core!.decide(fileId, allow))
      .then(
        () => true,
        () => false,
      )
    return (await node.outlives(decided)) && decided
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

  /** Runs sweeps like real nodes' timers, but in turn. */
  async #sweepOn(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.pause('sweeps', this.isTroubled ? this.choices.pick([50, 500, 5000]) : 5000)
      await this.sweepOnce()
    }
  }

  async sweepOnce(): Promise<void> {
    // A step of its own, because time passes in the simulation while something else is awaited.
    const retry = () => this.site.retryImports(this.scheduler.nowMs)
    if (!this.isTroubled)
      await this.scheduler.parked({ actor: 'sweeps', label: 'retries imports', quiet: true }, retry)
    const node = this.choices.pick(this.nodes)
    for (const name of node.sweeps) await node.sweep(name)
  }

  /**
   * Continues until nothing is open, and moves the clock forward as needed: first by a minute, then by hours, days and
   * a month.
   */
  async #comeToRest(): Promise<void> {
    const leapsMs = [0, minutes(1), hours(2), hours(25), hours(25), days(32), minutes(1)]
    for (const leapMs of leapsMs) {
      this.scheduler.nowMs += leapMs
      // A request whose client has gone may just have got the answer to its first statement, and hold nothing yet.
      await idle()
      if (this.#isAtRest()) return
      const untilMs = this.scheduler.nowMs + REST_MS
      let isSwept = false
      void this.watched(this.sweepOnce()).then(() => {
        isSwept = true
      })
      while (!isSwept || (this.scheduler.nowMs < untilMs && !this.#isIdle())) await this.step()
    }
  }

  #isIdle(): boolean {
    return this.nodes.every(
      ({ core, isSweeping }) => core && core.held.size === 0 && core.usedBytes() === 0 && !isSweeping,
    )
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

/** Steps of the same kind have the same rank; the oldest of them is next. */
function highest(ready: readonly Step[], ranks: Swarm): Step {
  const rankOf = ({ actor, label }: Step) => ranks.below(RANKS, `${actor} ${label.replace(/\d+/g, '')}`)
  let [best, bestRank] = [ready[0]!, rankOf(ready[0]!)]
  for (const step of ready.slice(1)) {
    const rank = rankOf(step)
    if (rank > bestRank) [best, bestRank] = [step, rank]
  }
  return best
}

function sourceOf(seed: string, n: number, { bytes, isWhatItSays }: UploadPlan): Buffer {
  const source = randomOf(`${seed}/source ${n}`).bytes(bytes)
  if (isWhatItSays) DECLARED.signature.copy(source)
  return source
}
