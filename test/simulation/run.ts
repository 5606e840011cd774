import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { readOptions } from '../../scripts/read-options.ts'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { changeCoreOnLoad } from './load-core.ts'
import { PLANTED_FAULTS } from './planted-faults.ts'

const USAGE =
  'npm run simulate [-- --seeds 1000] [--from 1] [--seed <n>] [--fault "<name>" [--story]] [--faults] [--hashes] [--database <url>]'
const { values } = readOptions(USAGE, {
  options: {
    /** How many seeds, and the first of them. */
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    /** Only this one, told as a story. */
    seed: { type: 'string' },
    /** Explores the core with this mistake in it, until it is found. */
    fault: { type: 'string' },
    /** And tells the shortest way to it. */
    story: { type: 'boolean', default: false },
    /** The same for each mistake. */
    faults: { type: 'boolean', default: false },
    /** Prints the hash of each run. */
    hashes: { type: 'boolean', default: false },
    database: { type: 'string' },
  },
})

const say = (line: string) => console.log(line)

async function main(): Promise<boolean> {
  const planted = PLANTED_FAULTS.find(({ name }) => name === values.fault)
  if (values.fault !== undefined && !planted) throw new Error(`There is no planted fault "${values.fault}".`)
  const assertPlanted = changeCoreOnLoad(planted?.edits ?? [])
  const { explore, tellSeed } = await import('./session.ts')
  assertPlanted()
  const server = values.database === undefined ? await startPostgres() : undefined
  const database = server && (await createDatabase(server.url))
  const url = values.database ?? database!.url
  try {
    if (values.seed !== undefined) return await tellSeed(url, values.seed, say)
    const [from, seeds] = [Number(values.from), Number(values.seeds)]
    const { hashes, story } = values
    return await explore(url, { from, seeds, hashes, planted, story, say })
  } finally {
    await database?.drop()
    await server?.stop()
  }
}

/** Each in a process of its own, since the core is loaded with the mistake in it. */
function findAll(): boolean {
  const missed = PLANTED_FAULTS.filter(({ name, withinSeeds }) => {
    const args = [fileURLToPath(import.meta.url), '--fault', name, '--seeds', String(withinSeeds)]
    return spawnSync(process.execPath, args, { stdio: 'inherit' }).status !== 0
  })
  for (const { name, withinSeeds } of missed) say(`NOT FOUND within ${withinSeeds} seeds: ${name}`)
  return missed.length === 0
}

process.exit((values.faults ? findAll() : await main()) ? 0 : 1)
