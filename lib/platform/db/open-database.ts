import { join } from 'node:path'
import type { Logger } from '../log/log.ts'
import type { DatabaseHandle } from './database.ts'
import { openEmbedded } from './embedded/open-embedded.ts'
import { openPostgres } from './open-postgres.ts'
import type { Outages } from './outages.ts'

export type DatabaseSettings = {
  databaseUrl?: string | undefined
  dataDir: string
  databaseConnections?: number
}

/** The PostgreSQL of the address where one is given, else one of our own in the data folder. */
export async function openDatabase(
  { databaseUrl, dataDir, databaseConnections: maxConnections }: DatabaseSettings,
  options: { log: Logger; share?: boolean; outages?: Outages },
): Promise<DatabaseHandle> {
  const { log, outages } = options
  if (databaseUrl)
    return openPostgres({
      address: databaseUrl,
      maxConnections,
      outages: outages && { watch: outages, log },
    })
  return openEmbedded(join(dataDir, 'db'), { ...options, maxConnections })
}
