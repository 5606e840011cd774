import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { holderOf, lockFolder } from '../../data-dir.ts'
import { keepRunning } from '../../keep-running.ts'
import { StartError } from '../../kernel/errors.ts'
import type { Logger } from '../../log/log.ts'
import { explainFolder } from '../../log/say-fault.ts'
import type { Role } from '../../settings/settings.ts'
import type { DatabaseHandle } from '../database.ts'
import { openPostgres } from '../open-postgres.ts'
import type { Outages } from '../outages.ts'
import { choosePlace, clusterIsThere, endOrphan, readPlace } from './database-folder.ts'
import { makeCluster } from './make-cluster.ts'
import { findPrograms } from './programs.ts'
import { runAs } from './run-as.ts'
import { startPostmaster } from './start-postmaster.ts'

export type EmbeddedOptions = {
  log: Logger
  /** Whether to connect to the database if another process is already running it. By default, opening it then fails. */
  share?: boolean
  outages?: Outages | undefined
  maxConnections?: number | undefined
  roles?: ReadonlySet<Role> | undefined
}

/**
 * Sluice's own PostgreSQL, from npm packages, with its data in `folder`. It starts and ends with this process, and is
 * restarted if it dies. A lock next to the folder names the process that owns it, and keeps a second process from
 * starting PostgreSQL there.
 */
export async function openEmbedded(
  folder: string,
  { log, share = false, outages, ...connections }: EmbeddedOptions,
): Promise<DatabaseHandle> {
  const unlock = lock(folder)
  const options = { ...connections, outages: outages && { watch: outages, log } }
  if (!unlock) {
    if (share) return openPostgres({ address: readPlace(folder), ...options })
    throw new StartError(
      `The embedded database in ${folder} is in use by ${holderOf(folder)}. Stop that process, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL server.`,
    )
  }
  try {
    const { place, server } = await start(folder, log)
    const database = openPostgres({ address: place, ...options })
    return {
      ...database,
      kind: 'embedded',
      async close() {
        await database.close()
        await server.stop()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw explainFolder(folder, error)
  }
}

function lock(folder: string): (() => void) | undefined {
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
    return lockFolder(folder)
  } catch (error) {
    throw explainFolder(dirname(folder), error)
  }
}

async function start(folder: string, log: Logger) {
  const as = runAs(folder)
  const programs = findPrograms(dirname(folder), as)
  if (clusterIsThere(folder, programs.major, as)) await endOrphan(folder)
  else await makeCluster({ programs, folder, as })
  const place = await choosePlace(folder)
  const server = await keepRunning(
    'PostgreSQL',
    () => startPostmaster({ programs, folder, place, as, log }),
    log,
  )
  return { place, server }
}
