import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashOfSources } from '../../scripts/source-hash.ts'
import { explore, type Found, type Site } from './explore.ts'
import { type PlantedFault, UNPLANTED_FAULTS } from './planted-faults.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const RESULTS = `${ROOT}.data/simulated-faults.json`
const TABLE = fileURLToPath(new URL('planted-faults.md', import.meta.url))
/** The sources that a run depends on, apart from its fault. */
const SOURCES = ['lib', 'drizzle', 'server', 'packages/local-bucket', 'test/support', 'test/simulation']
const IS_SOURCE = /\.(ts|sql)$/
const IS_AROUND_RUNS = /simulation\/(planted-|search-|explore|run\.|shrink|story)/
/**
 * In each round, every fault is searched for in up to this many seeds, so that the few hard ones do not delay
 * the others.
 */
const ROUNDS = [20, 60, 200, 500, Infinity]
const SAVE_EVERY = 10

/** How many seeds were searched, starting at 1, and the result. */
type Result = { searched: number; found?: Found | undefined }
type Search = { site: Site; processes: number; signal: AbortSignal; say: (line: string) => void }

/**
 * Searches for every fault, and continues where an earlier search of the same source stopped. Returns true if all were
 * found within their limits. The table contains all results, including those of an interrupted search.
 */
export async function searchFaults(faults: readonly PlantedFault[], search: Search): Promise<boolean> {
  const results = new Results(RESULTS)
  for (const most of ROUNDS)
    for (const fault of faults) {
      if (search.signal.aborted) break
      await searchOn(fault, Math.min(most, fault.withinSeeds), results, search)
    }
  const rows = faults.map((fault) => ({ ...fault, ...results.of(fault) }))
  writeFileSync(TABLE, tableOf(rows))
  const missing = rows.filter(({ found }) => found === undefined)
  for (const { name, searched } of missing) search.say(`NOT FOUND within ${searched} seeds: ${name}`)
  search.say(`${rows.length - missing.length} of ${rows.length} planted faults found`)
  return missing.length === 0
}

async function searchOn(
  fault: PlantedFault,
  until: number,
  results: Results,
  { site, processes, signal, say }: Search,
): Promise<void> {
  const { searched, found: known } = results.of(fault)
  if (known || searched >= until) return
  const from = searched + 1
  const { found } = await explore(
    { ...site, fault: fault.name },
    {
      from,
      seeds: until - searched,
      processes,
      signal,
      onRun: (_, run, next) => {
        if (run.failure === undefined && next % SAVE_EVERY === 0) results.keep(fault, { searched: next - 1 })
      },
    },
  )
  if (found) results.keep(fault, { searched: found.seed, found })
  else if (!signal.aborted) results.keep(fault, { searched: until })
  if (found) say(`found by seed ${found.seed}: ${fault.name} (${found.failure})`)
}

/**
 * The results of all searches in this folder. Each belongs to the source that was searched, and to the fault
 * as planted.
 */
export class Results {
  readonly #path: string
  readonly #source = hashOfSources(
    SOURCES.map((path) => ROOT + path),
    (path) => IS_SOURCE.test(path) && !IS_AROUND_RUNS.test(path),
  )
  readonly #all: Record<string, Result>

  constructor(path: string) {
    this.#path = path
    this.#all = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  }

  of(fault: PlantedFault): Result {
    return this.#all[this.#keyOf(fault)] ?? { searched: 0 }
  }

  keep(fault: PlantedFault, result: Result): void {
    this.#all[this.#keyOf(fault)] = result
    mkdirSync(dirname(this.#path), { recursive: true })
    writeFileSync(this.#path, JSON.stringify(this.#all, null, 2))
  }

  #keyOf({ edits }: PlantedFault): string {
    return createHash('sha256').update(this.#source).update(JSON.stringify(edits)).digest('hex')
  }
}

function tableOf(rows: readonly (PlantedFault & Result)[]): string {
  const lines = rows.map(({ name, mendedBy = '', found, withinSeeds, searched }) => {
    const seed = found?.seed ?? `not among ${searched}`
    return `| ${name} | ${mendedBy} | ${seed} | ${withinSeeds} | ${found?.failure ?? ''} |`
  })
  const unplanted = UNPLANTED_FAULTS.map(({ name, mendedBy, why }) => `| ${name} | ${mendedBy} | ${why} |`)
  return `# Planted faults

Written by \`npm run simulate -- --faults\`: mistakes in the core, the first seed that shows each, the seeds within which
it has to show, and the invariant that does not hold then. Some were real until the commit that is named.

| Mistake | Real until | First seed | Limit | Shows as |
| --- | --- | ---: | ---: | --- |
${lines.join('\n')}

Mistakes that were real, and that the simulation does not find:

| Mistake | Real until | Why |
| --- | --- | --- |
${unplanted.join('\n')}
`
}
