import { createHash } from 'node:crypto'
import { uuidv7 } from '#lib/platform/kernel/ids.ts'
import { Choices } from './choices.ts'
import { Failure } from './failure.ts'
import { replaceNetwork } from './network.ts'
import { shrink } from './shrink.ts'
import { replaceSource } from './simulated-source.ts'
import { replaceTime } from './simulated-time.ts'
import { openSite, type Site } from './site.ts'
import { World } from './world.ts'

export type Run = {
  hash: string
  steps: number
  failure: unknown
  /** For replaying and shrinking the run. */
  choices: readonly number[]
  world: World
}

export async function openSimulation(url: string): Promise<Site> {
  replaceTime()
  replaceNetwork()
  replaceSource()
  return openSite(url)
}

/** Runs with a seed's choices, or with given ones. */
export async function runOnce(site: Site, seed: string, given?: readonly number[]): Promise<Run> {
  const choices = new Choices(given ? { given } : { seed })
  return runWorld(choices, () => new World(site, choices, seed))
}

export async function runWorld<Kind extends World>(
  choices: Choices,
  make: () => Kind,
): Promise<Run & { world: Kind }> {
  // Resets the id counter, so that an earlier run's state does not affect this one.
  uuidv7(0)
  const world = make()
  const unhandled = (error: unknown) =>
    world.violated(new Failure('every failure is handled', String((error as Error)?.stack ?? error)))
  process.on('unhandledRejection', unhandled)
  const failure = await world.run().then(
    () => undefined,
    (error: unknown) => error,
  )
  process.off('unhandledRejection', unhandled)
  return { hash: world.trace.hash(), steps: world.trace.steps, failure, choices: choices.made, world }
}

/** The shortest run found that fails the same invariant. */
export function shrinkRun(site: Site, seed: string, failed: Run): Promise<Run> {
  return shrink(failed, async (choices) => {
    const run = await runOnce(site, seed, choices)
    return run.failure !== undefined && invariantOf(run) === invariantOf(failed) ? run : undefined
  })
}

export function invariantOf({ failure }: Run): string {
  return failure instanceof Failure ? failure.invariant : String(failure)
}

/** The order in which leases were taken, parts arrived and were recorded, objects were created and events written. */
export function interleavingOf({ world }: Run): string {
  return createHash('sha256').update(world.milestones.join()).digest('base64')
}
