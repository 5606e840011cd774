import type { Choices } from './choices.ts'
import { PUTTING } from './simulated-bucket.ts'
import type { UploadPlan } from './simulated-client.ts'
import type { SiteOptions } from './site.ts'

/** One of the Pipe's destinations, with what happens on the way to its bucket: see `FATES`. */
type DestinationHabits = SiteOptions['destinations'][number] & { fates: number[] }

/** The kind of run. Runs limited to a few behaviors go deeper than runs with everything. */
export type Habits = Omit<SiteOptions, 'destinations'> & {
  destinations: DestinationHabits[]
  plans: UploadPlan[]
  /** How far each node's clock is off. */
  skewsMs: number[]
  /** For how many steps disturbances occur. */
  troubledSteps: number
  /** How many of a hundred steps are not the oldest one. */
  shufflePercent: number
  lostPercent: number
  slowPercent: number
  cutPercent: number
  cancelPercent: number
  /** Hours may pass in which nothing happens. */
  idles: boolean
  /** The limit for all files together; 0 is unlimited. */
  quotaBytes: number
  /** The bucket may drop unfinished uploads. */
  drops: boolean
  /** Before how many of a thousand steps each of `DISTURBANCES` happens. */
  disturbances: number[]
}

export function drawHabits(choices: Choices): Habits {
  const often = (...levels: number[]) => choices.pick(levels)
  const destinations = drawDestinations(choices)
  return {
    webhook: choices.percent(50),
    destinations,
    plans: drawPlans(choices, mayJoinAt(destinations)),
    skewsMs: Array.from({ length: choices.whole(1, 3) }, () => choices.pick([0, 0, 1500, -1500])),
    troubledSteps: choices.pick([60, 120, 240]),
    shufflePercent: often(30, 70, 100),
    lostPercent: often(0, 0, 2, 5),
    slowPercent: often(10, 40),
    cutPercent: often(0, 15, 40),
    cancelPercent: often(0, 0, 5),
    drops: choices.percent(15),
    idles: choices.percent(15),
    quotaBytes: choices.pick([0, 0, 0, 20_000, 30_000]),
    disturbances: drawDisturbances(choices),
  }
}

/** Half of the runs are calm, so that uploads get far in them. */
function drawDisturbances(choices: Choices): number[] {
  const levels = choices.pick([
    [0, 4, 15, 30],
    [0, 0, 0, 4],
  ])
  return Array.from({ length: 12 }, () => choices.pick(levels))
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
    refuses: isBestEffort ? choices.pick([undefined, undefined, undefined, ...PUTTING]) : undefined,
    fates: [
      100,
      often(0, 20, 60),
      often(20, 60),
      often(0, 5, 15, 3000),
      ...Array.from({ length: 4 }, () => often(0, 5, 15)),
    ],
  }
}

/** Joining reads and deletes, and copies parts of any size within one bucket. */
function mayJoinAt([first, ...further]: readonly DestinationHabits[]): boolean {
  return further.length === 0 && first!.mayRead && first!.provider !== 'r2'
}

function drawPlans(choices: Choices, mayJoin: boolean): UploadPlan[] {
  const often = { deferred: choices.pick([0, 0, 60]), checksums: choices.pick([0, 0, 60]) }
  return Array.from({ length: choices.whole(1, 2) }, () => drawPlan(choices, mayJoin, often))
}

/** In the simulation, a mebibyte is a kibibyte: parts have 5 to 8 KiB. */
function drawPlan(
  choices: Choices,
  mayJoin: boolean,
  often: { deferred: number; checksums: number },
): UploadPlan {
  const bytes = choices.pick([18_000, 26_000, 18_000, 26_000, 9_000, 16_384, 8_192, 700, 1, 0])
  const protocols = ['tus', 'http', 'resumable-http', 'join'] as const
  return {
    protocol: protocols[choices.weighted([60, 8, 15, mayJoin ? 17 : 0])]!,
    bytes,
    deferred: choices.percent(often.deferred),
    checksums: choices.percent(often.checksums),
    withCreation: choices.percent(40),
    requestBytes: choices.pick([100_000, 10_000, 6_000, 3_000, 'varied', 'varied', 'varied']),
    twicePercent: choices.pick([0, 0, 30]),
    latePercent: choices.pick([0, 30]),
    interop: choices.pick(['10', '6', undefined]),
    cuts: choices.pick([[0.5], [0.3, 0.6], [0, 0.4]]).map((share) => Math.floor(share * bytes)),
  }
}
