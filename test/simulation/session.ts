import { interleavingOf, invariantOf, openSimulation, runOnce, shrinkRun } from './explore.ts'
import type { PlantedFault } from './planted-faults.ts'
import { tell } from './story.ts'

type Say = (line: string) => void
type Options = {
  from: number
  seeds: number
  hashes: boolean
  planted: PlantedFault | undefined
  story: boolean
  say: Say
}

/** Dead rows of earlier runs would slow the later ones down. */
const CLEAN_EVERY = 100
const REPORT_EVERY = 500

/** True if no seed fails; with a planted fault, if one does. */
export async function explore(
  url: string,
  { from, seeds, hashes, planted, story, say }: Options,
): Promise<boolean> {
  const site = await openSimulation(url)
  const startedMs = performance.now()
  const interleavings = new Set<string>()
  let steps = 0
  const report = (done: number) => {
    const perSecond = (done / ((performance.now() - startedMs) / 1000)).toFixed(1)
    say(`${done} seeds, ${steps} steps, ${interleavings.size} interleavings, ${perSecond} seeds a second`)
  }
  try {
    for (let n = 0; n < seeds; n++) {
      const seed = String(from + n)
      const run = await runOnce(site, seed)
      steps += run.steps
      interleavings.add(interleavingOf(run))
      if (hashes) say(`${seed} ${run.hash}`)
      if (run.failure !== undefined) {
        say(planted ? `found by seed ${seed}: ${planted.name} (${invariantOf(run)})` : `SEED ${seed}`)
        if (!planted || story) say(tell(await shrinkRun(site, seed, run)))
        if (!planted) say(`again with: npm run simulate -- --seed ${seed}`)
        return planted !== undefined
      }
      if ((n + 1) % CLEAN_EVERY === 0) await site.clean()
      if ((n + 1) % REPORT_EVERY === 0) report(n + 1)
    }
    if (!planted) report(seeds)
    return planted === undefined
  } finally {
    await site.close()
  }
}

/** One seed as a story; if it fails, the shortest that fails the same way, too. */
export async function tellSeed(url: string, seed: string, say: Say): Promise<boolean> {
  const site = await openSimulation(url)
  const run = await runOnce(site, seed)
  say(tell(run))
  say(`hash ${run.hash}, ${run.steps} steps`)
  if (run.failure !== undefined) say(`\nIN SHORT\n${tell(await shrinkRun(site, seed, run))}`)
  await site.close()
  return run.failure === undefined
}
