import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type { Logger } from '../log/log.ts'
import { sayFault } from '../log/say-fault.ts'
import { type DatabaseHandle, type Db, rows } from './database.ts'
import { openEmbedded } from './embedded/open-embedded.ts'
import { openPostgres } from './open-postgres.ts'
import { isOutage, type Outages } from './outages.ts'

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

const ASK_EVERY_MS = 500
const SAY_EVERY_MS = 5000

/** Machines start in any order: a database that is not there yet is waited for. */
export async function untilReached(
  db: Db,
  log: Logger,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<void> {
  for (let askedMs = 0; ; askedMs += ASK_EVERY_MS) {
    const error = await rows(db, sql`select 1`).then(
      () => undefined,
      (failed: unknown) => failed,
    )
    if (error === undefined) return
    if (!isOutage(error)) throw error
    if (askedMs % SAY_EVERY_MS === 0) log.warn({ why: sayFault(error) }, 'waiting for the database')
    await pause(ASK_EVERY_MS)
  }
}
