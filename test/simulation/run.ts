import { availableParallelism } from 'node:os'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { createDatabase, startPostgres, type TestDatabase } from '../support/postgres.ts'
import { explore, exploreDeaths, exploreSeeds, type Site, tellSeed } from './explore.ts'
import { PLANTED_FAULTS, type PlantedFault } from './planted-faults.ts'
import { searchFaults } from './search-faults.ts'

const USAGE = `npm run simulate [-- --seeds 1000] [--from 1] [--processes 2] [--hashes]
                 [-- --seed <n>]
                 [-- --fault "<name>" [--story]]
                 [-- --faults]
                 [-- --deaths [--fault "<name>"]]
                 [--server <url of PostgreSQL> --template <a migrated database of it>]`
const { values } = readOptions(USAGE, {
  options: {
    /** The number of seeds, and the first one. */
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    processes: { type: 'string', default: String(availableParallelism()) },
    /** Runs only this seed, and prints it as a story. */
    seed: { type: 'string' },
    /** Explores the core with this planted fault, until it is found. */
    fault: { type: 'string' },
    /** Also prints the shortest story. */
    story: { type: 'boolean', default: false },
    /**
     * Explores the core with each planted fault in turn, and writes a table of the results. Continues where the last
     * search stopped.
     */
    faults: { type: 'boolean', default: false },
    /** Makes a node die at each step around a decision, in turn. */
    deaths: { type: 'boolean', default: false },
    /** Prints the hash of each run. */
    hashes: { type: 'boolean', default: false },
    server: { type: 'string' },
    template: { type: 'string' },
  },
})

const say = (line: string) => console.log(line)
const processes = Number(values.processes)
const interrupted = new AbortController()
const { signal } = interrupted
// A second Ctrl-C ends the process immediately.
process.once('SIGINT', () => interrupted.abort())

/** Searches for one planted fault, and prints its shortest story. */
async function find(site: Site, { name, withinSeeds }: PlantedFault): Promise<boolean> {
  const planted = { ...site, fault: name }
  const { found } = await explore(planted, {
    from: Number(values.from),
    seeds: withinSeeds,
    processes,
    signal,
  })
  if (found) say(`found by seed ${found.seed}: ${name} (${found.failure})`)
  else say(`NOT FOUND within ${withinSeeds} seeds: ${name}`)
  if (found && values.story) say((await tellSeed(planted, String(found.seed))).short!)
  return found !== undefined
}

async function searchAll(site: Site): Promise<boolean> {
  const areAllFound = await searchFaults(PLANTED_FAULTS, { site, processes, signal, say })
  if (signal.aborted) say('Interrupted. Run the same command to continue: npm run simulate -- --faults')
  return areAllFound
}

async function makeTemplate(serverUrl: string): Promise<TestDatabase> {
  const template = await createDatabase(serverUrl)
  const { db, close } = openPostgres({ address: template.url })
  await migrate(db)
  await close()
  return template
}

const seedsToExplore = {
  from: Number(values.from),
  seeds: Number(values.seeds),
  processes,
  signal,
  hashes: values.hashes,
  say,
}

async function main(): Promise<boolean> {
  const planted = PLANTED_FAULTS.find(({ name }) => name === values.fault)
  if (values.fault !== undefined && !planted) throw new Error(`There is no planted fault "${values.fault}".`)
  const server = values.server === undefined ? await startPostgres() : undefined
  const serverUrl = values.server ?? server!.url
  const made = values.template === undefined ? await makeTemplate(serverUrl) : undefined
  const site = { serverUrl, template: values.template ?? made!.name, fault: undefined }
  try {
    if (values.faults) return await searchAll(site)
    if (values.deaths) return await exploreDeaths({ ...site, fault: planted?.name }, { processes, say })
    if (planted) return await find(site, planted)
    if (values.seed === undefined) return await exploreSeeds(site, seedsToExplore)
    const { whole, short } = await tellSeed(site, values.seed)
    say(short === undefined ? whole : `${whole}\n\nIN SHORT\n${short}`)
    return short === undefined
  } finally {
    await made?.drop()
    await server?.stop()
  }
}

process.exit((await main()) ? 0 : 1)
