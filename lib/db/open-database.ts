import { join } from 'node:path'
import type { DatabaseHandle } from './database.ts'

export type DatabaseSettings = { databaseUrl?: string | undefined; dataDir: string }

/** PostgreSQL where an address is given, else PGlite in the data folder. Loaded only where needed: PGlite is large. */
export async function openDatabase(settings: DatabaseSettings): Promise<DatabaseHandle> {
  if (settings.databaseUrl) {
    const { openPostgres } = await import('./open-postgres.ts')
    return openPostgres({ url: settings.databaseUrl })
  }
  const { openEmbedded } = await import('./open-embedded.ts')
  return openEmbedded(join(settings.dataDir, 'db'))
}
