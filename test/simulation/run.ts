import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { createDatabase, startPostgres, type TestDatabase } from '../support/postgres.ts'
import { type Explored, explore, type Site, tellSeed } from './explore.ts'
import { PLANTED_FAULTS, type PlantedFault } from './planted-faults.ts'

const USAGE = `npm run simulate [-- --seeds 1000] [--from 1] [--processes 2] [--hashes]
                 [-- --seed <n>]
                 [-- --fault "<name>" [--story]]
                 [-- --faults]
                 [--server <url of PostgreSQL> --template <a migrated database of it>]`
const { values } = readOptions(USAGE, {
  options: {
    /** How many seeds, and the first of them. */
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    processes: { type: 'string', default: String(availableParallelism()) },
    /** Only this one, told as a story. */
    seed: { type: 'string' },
    /** Explores the core with this mistake in it, until it is found. */
    fault: { type: 'string' },
    /** And tells the shortest way to it. */
    story: { type: 'boolean', default: false },
    /** The same for each mistake, with a table of what was found. */
    faults: { type: 'boolean', default: false },
    /** Prints the hash of each run. */
    hashes: { type: 'boolean', default: false },
    server: { type: 'string' },
    template: { type: 'string' },
  },
})

const REPORT_EVERY = 500
const say = (line: string) => console.log(line)
const from = Number(values.from)
const processes = Number(values.processes)

/** True if no seed fails. */
async function exploreSeeds(site: Site, seeds: number): Promise<boolean> {
  const startedMs = performance.now()
  const interleavings = new Set<string>()
  const hashes = new Map<number, string>()
  const checks = new Map<string, number>()
  let [runs, steps] = [0, 0]
  const report = () => {
    const perSecond = (runs / ((performance.now() - startedMs) / 1000)).toFixed(1)
    say(`${runs} seeds, ${steps} steps, ${interleavings.size} interleavings, ${perSecond} seeds a second`)
  }
  const onRun = (seed: number, run: Explored) => {
    runs += 1
    steps += run.steps
    interleavings.add(run.interleaving)
    hashes.set(seed, run.hash)
    for (const [invariant, times] of Object.entries(run.checks))
      checks.set(invariant, (checks.get(invariant) ?? 0) + times)
    if (runs % REPORT_EVERY === 0 && runs < seeds) report()
  }
  const found = await explore(site, { from, seeds, processes, onRun })
  if (values.hashes) for (const [seed, hash] of [...hashes].sort(([a], [b]) => a - b)) say(`${seed} ${hash}`)
  report()
  for (const [invariant, times] of [...checks].sort()) say(`${String(times).padStart(12)}  ${invariant}`)
  if (!found) return true
  say(`SEED ${found.seed}: ${found.failure}`)
  say((await tellSeed(site, String(found.seed))).short ?? 'It does not fail again.')
  say(`again with: npm run simulate -- --seed ${found.seed}`)
  return false
}

/** Undefined if it takes more seeds than it may. */
async function find(site: Site, { name, withinSeeds }: PlantedFault) {
  const planted = { ...site, fault: name }
  const found = await explore(planted, { from, seeds: withinSeeds, processes })
  if (found) say(`found by seed ${found.seed}: ${name} (${found.failure})`)
  else say(`NOT FOUND within ${withinSeeds} seeds: ${name}`)
  if (found && values.story) say((await tellSeed(planted, String(found.seed))).short!)
  return found
}

const TABLE = fileURLToPath(new URL('planted-faults.md', import.meta.url))

async function findAll(site: Site): Promise<boolean> {
  const rows = []
  let isComplete = true
  for (const fault of PLANTED_FAULTS) {
    const found = await find(site, fault)
    isComplete &&= found !== undefined
    const needed = found ? found.seed - from + 1 : `more than ${fault.withinSeeds}`
    rows.push([fault.name, fault.mendedBy ?? '', found?.failure ?? '', needed].join(' | '))
  }
  const head = 'Mistake | Real until | Shows as | Seeds needed'
  const table = [head, '--- | --- | --- | ---:', ...rows].map((row) => `| ${row} |`)
  const words =
    'Written by `npm run simulate -- --faults`: mistakes in the core, and what it takes to find each.'
  writeFileSync(TABLE, `# Planted faults\n\n${words}\n\n${table.join('\n')}\n`)
  return isComplete
}

async function makeTemplate(serverUrl: string): Promise<TestDatabase> {
  const template = await createDatabase(serverUrl)
  const { db, close } = openPostgres({ address: template.url })
  await migrate(db)
  await close()
  return template
}

async function main(): Promise<boolean> {
  const planted = PLANTED_FAULTS.find(({ name }) => name === values.fault)
  if (values.fault !== undefined && !planted) throw new Error(`There is no planted fault "${values.fault}".`)
  const server = values.server === undefined ? await startPostgres() : undefined
  const serverUrl = values.server ?? server!.url
  const made = values.template === undefined ? await makeTemplate(serverUrl) : undefined
  const site = { serverUrl, template: values.template ?? made!.name, fault: undefined }
  try {
    if (values.faults) return await findAll(site)
    if (planted) return (await find(site, planted)) !== undefined
    if (values.seed === undefined) return await exploreSeeds(site, Number(values.seeds))
    const { whole, short } = await tellSeed(site, values.seed)
    say(short === undefined ? whole : `${whole}\n\nIN SHORT\n${short}`)
    return short === undefined
  } finally {
    await made?.drop()
    await server?.stop()
  }
}

process.exit((await main()) ? 0 : 1)
