import { seconds } from '#lib/platform/kernel/clock.ts'
import { Choices } from './choices.ts'
import { DISTURBANCES, restart } from './disturb.ts'
import type { Habits } from './habits.ts'
import { FATES } from './network.ts'
import type { Receiver } from './receiver.ts'
import { invariantOf, type Run, runWorld } from './runs.ts'
import type { Step } from './scheduler.ts'
import { PATIENCE_MS, type UploadPlan } from './simulated-client.ts'
import type { Site } from './site.ts'
import { tell } from './story.ts'
import { Swarm } from './swarm.ts'
import { sentenceOf } from './trace.ts'
import { World } from './world.ts'

/**
 * Systematic node deaths: a file that a hook decides about is uploaded once while nothing goes wrong, and
 * then again for each node step between its last byte and the outcome, with a node that dies at that step.
 */

type Plot = Pick<UploadPlan, 'bytes'> & {
  name: string
  /** See `Receiver`. */
  answers: Receiver['answers']
  destinations?: number
  /** Once a node has died, its client never returns. */
  isLeft?: boolean
}

const PLOTS: readonly Plot[] = [
  {
    name: 'a file of one part is allowed, and its client does not return',
    bytes: 700,
    answers: ['allowed', 'rejected'],
    isLeft: true,
  },
  {
    name: 'a file of two parts is allowed at two destinations',
    bytes: 9_000,
    answers: ['allowed', 'silent'],
    destinations: 2,
  },
  { name: 'a file is rejected', bytes: 9_000, answers: ['rejected', 'allowed'] },
  { name: 'a file is deferred, and decided by a call', bytes: 9_000, answers: ['deferred', 'rejected'] },
]

/**
 * `before`: the step does not happen. `after`: it happens, but its result is lost. `late`: it was in flight,
 * and happens when others may already have the lease.
 */
const HOW = ['before', 'after', 'late'] as const
type Death = { at: number; how: (typeof HOW)[number] }

/** Until the death, nodes only run the sweeps that concern decisions. */
const SWEEPS = ['reconcile uploads', 'request decisions', 'reject undecided files']
/** Longer than a lease lasts. */
const LATE_MS = seconds(17)

/** The habits of a run in which nothing goes wrong, on two nodes. */
const habitsOf = ({ bytes, destinations = 1 }: Plot): Habits => ({
  webhook: true,
  gated: true,
  verifies: false,
  hashes: true,
  keyed: true,
  destinations: Array.from({ length: destinations }, () => ({
    required: true,
    provider: 'aws',
    mayRead: true,
    remembersCompletions: false,
    refuses: undefined,
    fates: FATES.map((_, n) => (n === 0 ? 1 : 0)),
  })),
  plans: [
    {
      protocol: 'tus',
      bytes,
      isWhatItSays: true,
      deferred: false,
      declarePercent: 0,
      checksums: false,
      withCreation: false,
      requestBytes: 100_000,
      mostChunks: 1,
      twicePercent: 0,
      patienceMs: PATIENCE_MS,
      latePercent: 0,
      startsLate: false,
      interop: undefined,
      lanes: 1,
      declares: 'nothing',
      resumesImports: false,
      endsTogether: false,
      cuts: [],
    },
  ],
  memoryBytes: 64 * 1024,
  swarm: new Swarm(0),
  skewsMs: [0, 0],
  troubledSteps: 0,
  shufflePercent: 0,
  rerankPercent: undefined,
  lostPercent: 0,
  slowPercent: 0,
  cutPercent: 0,
  cancelPercent: 0,
  idles: false,
  sweeps: true,
  quotaBytes: 0,
  drops: false,
  disturbances: Object.fromEntries(
    Object.keys(DISTURBANCES).map((name) => [name, 0]),
  ) as Habits['disturbances'],
})

class DyingWorld extends World {
  /** The nodes' steps, in order, from the last byte until the client knows the outcome. */
  readonly around: { at: number; step: Step; state: string }[] = []
  readonly #isLeft: boolean
  #death: Death | undefined
  #hasDied = false
  /** The number of node steps since the start. */
  #taken = 0

  constructor(site: Site, choices: Choices, plot: Plot, death: Death | undefined) {
    super(site, choices, plot.name, habitsOf(plot))
    this.receiver.answers = plot.answers
    this.#isLeft = plot.isLeft === true
    this.#death = death
  }

  override async take(step: Step): Promise<void> {
    if (step.host === undefined || step.quiet) return super.take(step)
    const at = this.#taken++
    const death = this.#death?.at === at ? this.#death : undefined
    if (death && death.how !== 'after') return this.#die(step, death)
    const [wasAround, state] = [this.#isAround(), this.#state()]
    await super.take(step)
    if (wasAround || this.#isAround()) this.around.push({ at, step, state })
    if (death) await this.#die(step, death)
  }

  override async sweepOnce(): Promise<void> {
    if (this.#hasDied || this.clients.every(({ end }) => end !== undefined)) return super.sweepOnce()
    const node = this.choices.pick(this.nodes)
    for (const name of SWEEPS) await node.sweep(name)
  }

  #state(): string {
    const [file] = this.invariants.ledger.files
    return `${file?.status} ${file?.decision}`
  }

  #isAround(): boolean {
    const [file] = this.invariants.ledger.files
    const isKnown = this.clients.every(({ end }) => end !== undefined)
    return file !== undefined && file.offsetBytes === file.lengthBytes && !(isKnown && file.events > 0)
  }

  async #die(step: Step, { how }: Death): Promise<void> {
    this.#death = undefined
    this.#hasDied = true
    const node = this.nodes.find(({ host }) => host === step.host)!
    this.scheduler.take(step)
    this.trace.note(
      `node ${node.host.name} dies ${how === 'late' ? 'while this is in flight' : how}: ${sentenceOf(step)}`,
    )
    if (this.#isLeft) for (const client of this.clients) client.end ??= 'left'
    await node.kill()
    if (how === 'late')
      this.scheduler.park({ ...step, host: undefined, dueMs: this.scheduler.nowMs + LATE_MS })
    restart(this, node)
  }
}

export type Deaths = { name: string; deaths: number; failure?: { invariant: string; story: string } }

/** Runs all deaths in one plot, until one of them breaks an invariant. Returns undefined if there is no such plot. */
export async function dieAtEachStep(site: Site, at: number): Promise<Deaths | undefined> {
  const plot = PLOTS[at]
  if (!plot) return undefined
  const { name } = plot
  const run = (death?: Death): Promise<Run & { world: DyingWorld }> => {
    const choices = new Choices({ seed: name })
    return runWorld(choices, () => new DyingWorld(site, choices, plot, death))
  }
  const whole = await run()
  const all = deathsOf(whole.world)
  const failed = (found: Run) => ({ invariant: invariantOf(found), story: tell(found) })
  if (whole.failure !== undefined) return { name, deaths: 0, failure: failed(whole) }
  for (const [n, death] of all.entries()) {
    const found = await run(death)
    if (found.failure !== undefined) return { name, deaths: n + 1, failure: failed(found) }
  }
  return { name, deaths: all.length }
}

/** Picks one death for several equal steps, such as looking for a decision every second. */
function deathsOf({ around }: DyingWorld): Death[] {
  const known = new Set<string>()
  return around.flatMap(({ at, step: { label, mayOutlive }, state }) => {
    const what = `${label} ${state}`
    if (known.has(what)) return []
    known.add(what)
    const isRequest = mayOutlive === true || label.startsWith('sends ')
    return HOW.filter((how) => how !== 'late' || isRequest).map((how) => ({ at, how }))
  })
}
