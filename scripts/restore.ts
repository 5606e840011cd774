import { resolve } from 'node:path'
import { restoreBackup } from '../lib/platform/db/backup.ts'
import { openDatabase } from '../lib/platform/db/open-database.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { dropLapsedLeases } from '../lib/recovery/restored.ts'
import { lapseLeases } from '../lib/uploads/ledger/lease-rows.ts'
import { loadSettings } from './load-settings.ts'
import { commandLine, misused, readOptions } from './read-options.ts'

/** Fills an empty database from a backup. */
const USAGE = 'npm run admin -- restore sluice.backup'
const { positionals } = readOptions(USAGE, { allowPositionals: true })
const file = positionals[0] ?? misused('The file is missing', USAGE)

try {
  const database = await openDatabase(loadSettings(), { log: createLogger('warn') })
  try {
    const { tables } = await restoreBackup(database, resolve(file))
    // Releases the leases that processes had when the backup was made.
    await lapseLeases(database.db)
    await dropLapsedLeases(database.db)
    const next = commandLine('npm run admin -- reconcile --since <time of the backup>')
    console.log(`${tables} tables are restored. Start Sluice with its previous keys, and run \`${next}\`.`)
  } finally {
    await database.close()
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
