import { readOptions } from '../../scripts/read-options.ts'
import { startOwnPostgres } from '../../test/support/postgres.ts'
import { openExplained } from './explained.ts'
import { diskBytes, dropEvents, growTo } from './grow.ts'
import { openStage } from './hot-paths.ts'
import { measure } from './measure.ts'
import { type Grown, writeGrowth } from './report.ts'

/**
 * Measures how frequent operations scale as a database grows: `npm run bench -- growth --files 1000000,10000000` grows
 * a database to each of these file counts in turn, and writes docs/growth.md.
 */
const { files } = readOptions('npm run bench -- growth [--files 1000000,10000000]', {
  options: { files: { type: 'string', default: '10000,100000,1000000' } },
}).values
const sizes = files.split(',').map(Number)

/** Settings for a machine of this size, without durability. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_size: '4GB',
  max_connections: 100,
  shared_buffers: '2GB',
  maintenance_work_mem: '1GB',
}

const server = await startOwnPostgres(SETTINGS)
try {
  const database = await openExplained(server.url)
  const { db } = database
  const stage = await openStage(database)
  const grown: Grown[] = []
  for (const [at, size] of sizes.entries()) {
    const startedMs = performance.now()
    await growTo(db, stage.tenant, sizes[at - 1] ?? 0, size)
    grown.push({
      files: size,
      bytes: await diskBytes(db),
      measured: await measure(database, await stage.paths()),
    })
    console.log(`${size} files: ${Math.round((performance.now() - startedMs) / 1000)} s`)
  }
  writeGrowth(grown, await dropEvents(db))
  await stage.close()
  await database.close()
} finally {
  await server.stop()
}
