import type { Explored, Task } from './explore.ts'
import { takeChecks } from './failure.ts'
import { changeCoreOnLoad } from './load-core.ts'
import { PLANTED_FAULTS } from './planted-faults.ts'

/** A process that explores the seeds its parent assigns, with the given planted fault in its core. */

const [url, fault] = process.argv.slice(2) as [string, string?]
const assertPlanted = changeCoreOnLoad(PLANTED_FAULTS.find(({ name }) => name === fault)?.edits ?? [])
const { interleavingOf, invariantOf, openSimulation, runOnce, shrinkRun } = await import('./runs.ts')
const { tell } = await import('./story.ts')
const { dieAtEachStep } = await import('./deaths.ts')
assertPlanted()
const site = await openSimulation(url)

/** Dead rows from earlier runs would slow down later ones. */
const CLEAN_EVERY = 100
let runs = 0

async function explore(seed: string): Promise<Explored> {
  const run = await runOnce(site, seed)
  if (++runs % CLEAN_EVERY === 0) await site.clean()
  const { hash, steps, failure } = run
  const found = { hash, steps, interleaving: interleavingOf(run), checks: takeChecks() }
  return failure === undefined ? found : { ...found, failure: invariantOf(run), story: tell(run) }
}

/** Returns the story of a seed's run and, if it fails, of the shortest run that fails in the same way. */
async function stories(seed: string): Promise<{ whole: string; short?: string }> {
  const run = await runOnce(site, seed)
  const whole = `${tell(run)}\nhash ${run.hash}, ${run.steps} steps`
  return run.failure === undefined ? { whole } : { whole, short: tell(await shrinkRun(site, seed, run)) }
}

process.on('message', async (task: Task) => {
  if ('plot' in task) process.send!((await dieAtEachStep(site, task.plot)) ?? null)
  else process.send!(task.tells ? await stories(task.seed) : await explore(task.seed))
})
process.on('disconnect', () => process.exit())
// Ctrl-C reaches every process in the terminal. The parent ends this one, once it has printed its progress.
process.on('SIGINT', () => {})
process.send!('ready')
