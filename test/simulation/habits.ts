import type { Choices } from './choices.ts'
import { DISTURBANCES, type Disturbance } from './disturb.ts'
import { FATES } from './network.ts'
import { type BucketRules, PUTTING, REFUSALS } from './simulated-bucket.ts'
import { PATIENCE_MS, type UploadPlan } from './simulated-client.ts'
import type { SiteOptions } from './site.ts'
import { Swarm } from './swarm.ts'

/** One of the Pipe's destinations, and the possible outcomes of a request to its bucket: see `FATES`. */
type DestinationHabits = SiteOptions['destinations'][number] & { fates: number[] }

/** The kind of run. Runs limited to a few behaviors go deeper than runs with everything. */
export type Habits = Omit<SiteOptions, 'destinations'> & {
  destinations: DestinationHabits[]
  plans: UploadPlan[]
  /** Whether TUS clients repeat a creation under the same key. */
  keyed: boolean
  /** The things that this run treats differently from others of their kind. */
  swarm: Swarm
  /** How far each node's clock is off. */
  skewsMs: number[]
  /** The number of steps during which disturbances occur. */
  troubledSteps: number
  /** The percentage of steps that are not the oldest one. */
  shufflePercent: number
  /**
   * If set, steps are ranked by kind, and the highest rank is next, so that some kinds are always last. The ranks
   * change after this percentage of steps, chosen at random.
   */
  rerankPercent: number | undefined
  lostPercent: number
  slowPercent: number
  cutPercent: number
  cancelPercent: number
  /** Whether hours may pass in which nothing happens. */
  idles: boolean
  /** Whether nodes also sweep while disturbances occur. */
  sweeps: boolean
  /** The limit for all files together; 0 is unlimited. */
  quotaBytes: number
  /** Each node's memory for uploads. With little of it, they wait for memory, and incomplete parts are spilled. */
  memoryBytes: number
  /** Whether the bucket may drop unfinished uploads. */
  drops: boolean
  /** Before how many of a thousand steps each disturbance happens. */
  disturbances: Record<Disturbance, number>
}

export function drawHabits(choices: Choices): Habits {
  const often = (...levels: number[]) => choices.pick(levels)
  const swarm = new Swarm(choices.percent(75) ? choices.whole(1, 2 ** 16) : 0)
  const competes = choices.percent(8)
  const joins = !competes && choices.percent(12)
  const [drops, idles] = competes ? [false, false] : [choices.percent(15), choices.percent(15)]
  const destinations = joins ? [drawJoining(choices)] : drawDestinations(choices)
  return {
    webhook: choices.percent(50),
    gated: choices.percent(20),
    verifies: !joins && choices.percent(20),
    // Not a choice of its own, so that it does not change the other choices of a seed.
    hashes: !joins && swarm.below(2, 'hashes') === 1,
    keyed: swarm.below(2, 'keys') === 1,
    destinations,
    plans: drawPlans(choices, { competes, joins, idles }),
    swarm,
    skewsMs: Array.from({ length: choices.whole(competes ? 2 : 1, 3) }, () =>
      choices.pick([0, 0, 1500, -1500]),
    ),
    troubledSteps: competes ? 60 : choices.pick([60, 120, 240]),
    shufflePercent: often(30, 70, 100),
    rerankPercent: choices.pick([undefined, undefined, 1, 5]),
    lostPercent: often(0, 0, 2, 5),
    slowPercent: often(10, 40),
    cutPercent: often(0, 15, 40),
    cancelPercent: often(0, 0, 5),
    drops,
    idles,
    sweeps: choices.percent(40),
    quotaBytes: choices.pick(idles ? [0, 20_000, 30_000] : [0, 0, 0, 20_000, 30_000]),
    memoryBytes: choices.pick([64, 64, 40, 28]) * 1024,
    disturbances: competes ? COMPETING : drawDisturbances(choices, { drops, idles }),
  }
}

/**
 * In some runs, two requests compete for one file while nodes die and freeze, so that a request which has read the file
 * takes over from a writer that died after that.
 */
const COMPETING = {
  ...(Object.fromEntries(Object.keys(DISTURBANCES).map((name) => [name, 0])) as Record<Disturbance, number>),
  kill: 40,
  freeze: 60,
}

/** Half of the runs are calm, so that uploads get far in them. */
function drawDisturbances(
  choices: Choices,
  { drops, idles }: { drops: boolean; idles: boolean },
): Record<Disturbance, number> {
  const levels = choices.pick([
    [0, 4, 15, 30],
    [0, 0, 0, 4],
  ])
  const names = Object.keys(DISTURBANCES) as Disturbance[]
  const drawn = Object.fromEntries(names.map((name) => [name, choices.pick(levels)]))
  const rare = { dropMultipart: drops ? 15 : 0, passHours: idles ? 15 : 0 }
  return { ...drawn, ...rare } as Record<Disturbance, number>
}

/** Half of the runs have one destination. At least one is required. */
function drawDestinations(choices: Choices): DestinationHabits[] {
  const count = 1 + choices.weighted([50, 25, 25])
  const drawn = Array.from({ length: count }, () =>
    drawDestination(choices, count > 1 && choices.percent(50)),
  )
  return drawn.some(({ required }) => required)
    ? drawn
    : [{ ...drawn[0]!, required: true, refuses: undefined }, ...drawn.slice(1)]
}

function drawDestination(choices: Choices, isBestEffort: boolean): DestinationHabits {
  const often = (...levels: number[]) => choices.pick(levels)
  return {
    required: !isBestEffort,
    provider: choices.pick(['aws', 'aws', 'r2', 'b2']),
    mayRead: choices.percent(50),
    remembersCompletions: choices.percent(50),
    refuses: isBestEffort ? drawRefusal(choices) : undefined,
    fates: [
      100,
      often(0, 20, 60),
      often(20, 60),
      often(0, 5, 15, 3000),
      ...Array.from({ length: 4 }, () => often(0, 5, 15)),
    ],
  }
}

function drawRefusal(choices: Choices): BucketRules['refuses'] {
  const operation = choices.pick([undefined, undefined, undefined, ...PUTTING])
  return operation === undefined ? undefined : { operation, code: choices.pick(REFUSALS) }
}

/** Joining reads and deletes, and copies parts of any size within one bucket. */
function drawJoining(choices: Choices): DestinationHabits {
  return { ...drawDestination(choices, false), provider: 'aws', mayRead: true }
}

/** The possible outcomes of such a request: see `FATES`. */
export function fatesOf({ destinations, swarm }: Habits, at: number, operation: string): number[] {
  const { fates } = destinations[at]!
  const special = swarm.pick([0, 0, 0, ...FATES.keys()], 'fate', `${at} ${operation}`)
  return special === 0 ? fates : fates.map((weight, fate) => (fate === special ? 400 : weight))
}

/** The percentages of statements with this name that are lost, slow or late. */
export function statementHabits({ swarm, lostPercent, slowPercent }: Habits, label: string) {
  return {
    lost: Math.max(lostPercent, swarm.pick([0, 0, 0, 25], 'lost', label)),
    slow: Math.max(slowPercent, swarm.pick([0, 0, 0, 80], 'slow', label)),
    late: swarm.pick([0, 0, 0, 0, 0, 50], 'late', label),
  }
}

type Kind = { competes: boolean; joins: boolean; idles: boolean }

function drawPlans(choices: Choices, kind: Kind): UploadPlan[] {
  const often = { deferred: choices.pick([0, 0, 60]), checksums: choices.pick([0, 0, 60]) }
  if (kind.competes) return [{ ...drawPlan(choices, kind, often), ...COMPETING_PLAN }]
  return Array.from({ length: choices.whole(1, 2) }, () => drawPlan(choices, kind, often))
}

const COMPETING_PLAN = {
  protocol: 'tus',
  withCreation: false,
  requestBytes: 'varied',
  twicePercent: 100,
} as const

/** In the simulation, a mebibyte is a kibibyte: parts have 5 to 8 KiB. */
function drawPlan(
  choices: Choices,
  { joins, idles }: Kind,
  often: { deferred: number; checksums: number },
): UploadPlan {
  const bytes = choices.pick([18_000, 26_000, 18_000, 26_000, 9_000, 16_384, 8_192, 700, 1, 0])
  const protocols = ['tus', 'http', 'resumable-http', 'join', 'lanes', 'folder', 'import'] as const
  const others = joins ? [80, 0, 0, 0] : [0, 40, 15, 15]
  const protocol = protocols[choices.weighted([60, 8, 15, ...others])]!
  const isInLanes = protocol === 'lanes'
  return {
    protocol,
    bytes,
    isWhatItSays: choices.percent(60),
    deferred: choices.percent(often.deferred) && !isInLanes,
    declarePercent: choices.pick([30, 5]),
    checksums: choices.percent(often.checksums),
    withCreation: choices.percent(40) && !isInLanes,
    requestBytes: choices.pick([100_000, 10_000, 6_000, 3_000, 'varied', 'varied', 'varied']),
    mostChunks: choices.pick([3, 3, 8]),
    twicePercent: choices.pick([0, 0, 30, 60]),
    patienceMs: choices.pick([PATIENCE_MS, PATIENCE_MS, 3_000]),
    latePercent: choices.pick([0, 30]),
    startsLate: idles && choices.percent(40),
    interop: choices.pick(['10', '6', undefined]),
    lanes: choices.whole(1, 4),
    endsTogether: choices.percent(50),
    declares: choices.pick(['nothing', 'nothing', 'nothing', 'its checksum', 'another checksum']),
    resumesImports: choices.percent(60),
    cuts: choices.pick([[0.5], [0.3, 0.6], [0, 0.4]]).map((share) => Math.floor(share * bytes)),
  }
}
