import { join } from 'node:path'
import type { Logger } from '../log/log.ts'
import type { DatabaseHandle } from './database.ts'
import { openEmbedded } from './embedded/open-embedded.ts'
import { openPostgres } from './open-postgres.ts'

export type DatabaseSettings = { databaseUrl?: string | undefined; dataDir: string }

/** The PostgreSQL of the address where one is given, else one of our own in the data folder. */
export async function openDatabase(
  { databaseUrl, dataDir }: DatabaseSettings,
  options: { log: Logger; share?: boolean },
): Promise<DatabaseHandle> {
  if (databaseUrl) return openPostgres({ address: databaseUrl })
  return openEmbedded(join(dataDir, 'db'), options)
}
