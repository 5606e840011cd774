import { MIGRATIONS, migrate } from '../lib/platform/db/migrate.ts'
import { openDatabase, untilReached } from '../lib/platform/db/open-database.ts'
import type { Outages } from '../lib/platform/db/outages.ts'
import { standbyOf } from '../lib/platform/db/primary.ts'
import { systemClock } from '../lib/platform/kernel/clock.ts'
import type { Logger } from '../lib/platform/log/log.ts'
import { createMetrics } from '../lib/platform/metrics.ts'
import { openQueue } from '../lib/platform/queue.ts'
import { type Runtime, setRuntime } from '../lib/platform/runtime.ts'
import type { Config } from '../lib/platform/settings/config.ts'
import { lapseLeases } from '../lib/uploads/ledger/lease-rows.ts'
import { openVault } from './open-vault.ts'

/** `share`: true if an embedded database belongs to the supervisor. */
export async function openRuntime(
  config: Config,
  options: { log: Logger; outages: Outages; share: boolean },
): Promise<Runtime> {
  const { log } = options
  const database = await openDatabase(config, options)
  const { db } = database
  await untilReached(database, { waitMs: config.databaseWaitMs, log })
  const pooler = await database.usePooler()
  if (pooler) log.info({ pooler }, 'the database is behind a pooler')
  if ((await standbyOf(db)) === 'asynchronous')
    log.warn(
      'the standby of the database is asynchronous: a failover loses the commits that it has not received',
    )
  await migrate(db, MIGRATIONS, { log })
  // No other process can be using an embedded database yet, so existing leases belong to a dead process.
  if (database.kind === 'embedded') await lapseLeases(db)
  const queue = await openQueue(database, { worker: config.roles.has('worker'), log })
  const vault = await openVault(db, config.encryptionKeys)
  const runtime = { config, clock: systemClock, log, metrics: createMetrics(), database, db, queue, vault }
  setRuntime(runtime)
  return runtime
}
