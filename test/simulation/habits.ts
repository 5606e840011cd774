import type { Choices } from './choices.ts'
import type { UploadPlan } from './simulated-client.ts'
import type { SiteOptions } from './site.ts'

/** What kind of run it is. Runs that do only some things go deeper than runs that do everything. */
export type Habits = SiteOptions & {
  bucket: SiteOptions
  plans: UploadPlan[]
  /** How far the clock of each node is off. */
  skewsMs: number[]
  /** For how many steps things go wrong. */
  troubledSteps: number
  /** How many of a hundred steps are not the oldest one. */
  shufflePercent: number
  lostPercent: number
  slowPercent: number
  cutPercent: number
  cancelPercent: number
  /** Hours may pass in which nothing happens. */
  idles: boolean
  /** What all files together may have; 0 is unlimited. */
  quotaBytes: number
  /** The bucket may drop unfinished uploads. */
  drops: boolean
  /** Of the network: see `FATES`. */
  fates: number[]
  /** Of a thousand steps, before how many each of `DISTURBANCES` happens. */
  disturbances: number[]
}

export function drawHabits(choices: Choices): Habits {
  const often = (...levels: number[]) => choices.pick(levels)
  const bucket = {
    provider: choices.pick(['aws', 'aws', 'r2', 'b2']),
    webhook: choices.percent(50),
    mayRead: choices.percent(50),
    remembersCompletions: choices.percent(50),
  }
  return {
    ...bucket,
    bucket,
    plans: drawPlans(choices, bucket),
    skewsMs: Array.from({ length: choices.whole(1, 3) }, () => choices.pick([0, 0, 1500, -1500])),
    troubledSteps: choices.pick([60, 120, 240]),
    shufflePercent: often(30, 70, 100),
    lostPercent: often(0, 0, 2, 5),
    slowPercent: often(10, 40),
    cutPercent: often(0, 15, 40),
    cancelPercent: often(0, 0, 5),
    fates: [100, often(0, 20, 60), often(20, 60), ...Array.from({ length: 5 }, () => often(0, 5, 15))],
    drops: choices.percent(15),
    idles: choices.percent(15),
    quotaBytes: choices.pick([0, 0, 0, 20_000, 30_000]),
    disturbances: Array.from({ length: 11 }, () => often(0, 4, 15, 30)),
  }
}

function drawPlans(choices: Choices, bucket: SiteOptions): UploadPlan[] {
  const often = { deferred: choices.pick([0, 0, 60]), checksums: choices.pick([0, 0, 60]) }
  return Array.from({ length: choices.whole(1, 2) }, () => drawPlan(choices, bucket, often))
}

/** In the simulation a mebibyte is a kibibyte: parts have 5 to 8 KiB. */
function drawPlan(
  choices: Choices,
  { mayRead, provider }: SiteOptions,
  often: { deferred: number; checksums: number },
): UploadPlan {
  const bytes = choices.pick([18_000, 26_000, 9_000, 700, 8_192, 16_384, 1, 0])
  // Joining reads and deletes, and copies parts of any size.
  const mayJoin = mayRead && provider !== 'r2'
  const protocols = ['tus', 'http', 'resumable-http', 'join'] as const
  return {
    protocol: protocols[choices.weighted([60, 8, 15, mayJoin ? 17 : 0])]!,
    bytes,
    deferred: choices.percent(often.deferred),
    checksums: choices.percent(often.checksums),
    withCreation: choices.percent(40),
    requestBytes: choices.pick([100_000, 10_000, 6_000, 3_000]),
    interop: choices.pick(['10', '6', undefined]),
    cuts: choices.pick([[0.5], [0.3, 0.6], [0, 0.4]]).map((share) => Math.floor(share * bytes)),
  }
}
