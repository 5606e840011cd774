import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../kernel/errors.ts'
import type { Logger } from '../log/log.ts'
import { sayFault } from '../log/say-fault.ts'
import type { Role } from '../settings/settings.ts'
import type { DatabaseHandle } from './database.ts'
import { openEmbedded } from './embedded/open-embedded.ts'
import { isOutage } from './faults.ts'
import { openPostgres } from './open-postgres.ts'
import type { Outages } from './outages.ts'

export type DatabaseSettings = {
  databaseUrl?: string | undefined
  databaseDirectUrl?: string | undefined
  dataDir: string
  databaseConnections?: number
  roles?: ReadonlySet<Role>
}

/** Opens the PostgreSQL database at the configured address or, without one, Sluice's own in the data folder. */
export async function openDatabase(
  { databaseUrl, databaseDirectUrl, dataDir, databaseConnections: maxConnections, roles }: DatabaseSettings,
  options: { log: Logger; share?: boolean; outages?: Outages },
): Promise<DatabaseHandle> {
  const { log, outages } = options
  if (databaseUrl)
    return openPostgres({
      address: databaseUrl,
      directAddress: databaseDirectUrl,
      maxConnections,
      roles,
      outages: outages && { watch: outages, log },
    })
  return openEmbedded(join(dataDir, 'db'), { ...options, maxConnections, roles })
}

const ASK_EVERY_MS = 500
const SAY_EVERY_MS = 5000

type Patience = { waitMs: number; log: Logger; now?: () => number; pause?: (ms: number) => Promise<unknown> }

/** Machines may start in any order, so this waits if the database is not running yet or does not accept writes yet. */
export async function untilReached(
  { reach }: Pick<DatabaseHandle, 'reach'>,
  { waitMs, log, now = () => performance.now(), pause = sleep }: Patience,
): Promise<void> {
  const sinceMs = now()
  for (let sayAtMs = sinceMs; ; ) {
    const error = await reach().then(
      () => undefined,
      (failed: unknown) => failed,
    )
    if (error === undefined) return
    if (!isOutage(error)) throw error
    const nowMs = now()
    if (nowMs - sinceMs >= waitMs) throw tooLate(error, waitMs)
    if (nowMs >= sayAtMs) {
      log.warn({ why: sayFault(error) }, 'waiting for the database')
      sayAtMs = nowMs + SAY_EVERY_MS
    }
    await pause(ASK_EVERY_MS)
  }
}

function tooLate(error: unknown, waitMs: number): StartError {
  const waited = `Sluice waited ${waitMs / 1000} s, as set by DATABASE_WAIT_SECONDS.`
  return new StartError(`${sayFault(error)} ${waited}`, { cause: error })
}
