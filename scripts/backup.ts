import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { writeBackup } from '../lib/platform/db/backup.ts'
import { openDatabase } from '../lib/platform/db/open-database.ts'
import { StartError } from '../lib/platform/kernel/errors.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { loadSettings } from './load-settings.ts'
import { readOptions } from './read-options.ts'

/** Writes the entire database to one file, whether or not Sluice is running. */
const { positionals } = readOptions('npm run admin -- backup [sluice.backup]', { allowPositionals: true })

try {
  const file = resolve(positionals[0] ?? `sluice-${new Date().toISOString().replace(/[:.]/g, '-')}.backup`)
  if (existsSync(file)) throw new StartError(`${file} already exists. Specify a different file.`)
  const database = await openDatabase(loadSettings(), { log: createLogger('warn'), share: true })
  try {
    const { tables } = await writeBackup(database.address, file)
    console.log(
      `${tables} tables are in ${file}. Store ENCRYPTION_KEY, or DATA_DIR/secrets.json, separately.`,
    )
  } finally {
    await database.close()
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
