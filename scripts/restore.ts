import { resolve } from 'node:path'
import { restoreBackup } from '../lib/platform/db/backup.ts'
import { openDatabase } from '../lib/platform/db/open-database.ts'
import { StartError } from '../lib/platform/kernel/errors.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { dropLapsedLeases } from '../lib/uploads/ledger/after-failover.ts'
import { lapseLeases } from '../lib/uploads/ledger/leases.ts'
import { loadSettings } from './load-settings.ts'

/** `npm run restore -- file`: fills an empty database from a backup. */
try {
  if (!process.argv[2]) throw new StartError('Specify the file: npm run restore -- sluice.backup')
  const database = await openDatabase(loadSettings(), { log: createLogger('warn') })
  try {
    const { tables } = await restoreBackup(database, resolve(process.argv[2]))
    // Releases the leases that processes had when the backup was made.
    await lapseLeases(database.db)
    await dropLapsedLeases(database.db)
    console.log(
      `${tables} tables are restored. Start Sluice with its previous keys, and run \`npm run reconcile\`.`,
    )
  } finally {
    await database.close()
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
