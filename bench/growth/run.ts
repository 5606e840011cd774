import { readOptions } from '../../scripts/read-options.ts'
import { startOwnPostgres } from '../../test/support/postgres.ts'
import { openExplained } from './explained.ts'
import { growTo } from './grow.ts'
import { openStage } from './hot-paths.ts'
import { type Measured, measure } from './measure.ts'
import { writeGrowth } from './report.ts'

/**
 * How what is done all the time fares as a database grows: `npm run growth -- --files 1000000,10000000` makes one of so many
 * files, one size after the other, and writes docs/growth.md.
 */
const { files } = readOptions('npm run growth [-- --files 1000000,10000000]', {
  options: { files: { type: 'string', default: '10000,100000,1000000' } },
}).values
const sizes = files.split(',').map(Number)

/** For a machine of this size, and without care for the data. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_size: '8GB',
  max_connections: 100,
  shared_buffers: '2GB',
  maintenance_work_mem: '512MB',
}

const server = await startOwnPostgres(SETTINGS)
try {
  const database = await openExplained(server.url)
  const stage = await openStage(database)
  const measured: Measured[][] = []
  for (const [at, size] of sizes.entries()) {
    const startedMs = performance.now()
    await growTo(database.db, stage.tenant, sizes[at - 1] ?? 0, size)
    measured.push(await measure(database, await stage.paths(size)))
    console.log(`${size} files: ${Math.round((performance.now() - startedMs) / 1000)} s`)
    writeGrowth(sizes.slice(0, at + 1), measured)
  }
  await stage.close()
  await database.close()
} finally {
  await server.stop()
}
