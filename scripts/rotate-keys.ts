import { migrate } from '../lib/platform/db/migrate.ts'
import { openDatabase } from '../lib/platform/db/open-database.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { openVault } from '../server/open-vault.ts'
import { resealSecrets } from '../server/reseal-secrets.ts'
import { loadSettings } from './load-settings.ts'
import { readOptions, runScript } from './read-options.ts'

/**
 * `npm run admin -- rotate-keys`: encrypts all secrets with the first key of ENCRYPTION_KEY. Run it after adding a new key at
 * the start, so that the older keys can be removed.
 */
readOptions('npm run admin -- rotate-keys', {})
await runScript(async () => {
  const config = loadSettings()
  const database = await openDatabase(config, { log: createLogger('warn'), share: true })
  try {
    await migrate(database.db)
    const vault = await openVault(database.db, config.encryptionKeys)
    const rewritten = await resealSecrets(database.db, vault)
    console.log(`${rewritten} secrets are now encrypted with the first key of ENCRYPTION_KEY.`)
  } finally {
    await database.close()
  }
})
