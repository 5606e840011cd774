import { emitFileEvent } from '../lib/events/emit-file-event.ts'
import { migrate } from '../lib/platform/db/migrate.ts'
import { openDatabase } from '../lib/platform/db/open-database.ts'
import { systemClock } from '../lib/platform/kernel/clock.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { shownJson } from '../lib/platform/log/terminal.ts'
import { createMetrics } from '../lib/platform/metrics.ts'
import { openQueue } from '../lib/platform/queue.ts'
import { findFinished, listUnknown } from '../lib/recovery/after-restore.ts'
import { dropLapsedLeases } from '../lib/recovery/restored.ts'
import { MemoryBudget } from '../lib/upload-memory/memory-budget.ts'
import { bucketsOf } from '../server/open-uploads.ts'
import { openVault } from '../server/open-vault.ts'
import { loadSettings } from './load-settings.ts'
import { misused, readOptions, runScript } from './read-options.ts'

/**
 * `npm run admin -- reconcile --since <time of the backup>`, after a restore: updates unfinished uploads whose objects are in
 * their buckets, and prints, as JSON, newer objects in the buckets that have no record in the database.
 */
const USAGE = 'npm run admin -- reconcile --since 2026-11-22T14:00:00Z'
const { values } = readOptions(USAGE, { options: { since: { type: 'string' } } })
const { since = misused('--since is missing', USAGE) } = values
const sinceMs = Date.parse(since)
if (Number.isNaN(sinceMs)) misused(`--since is ${since}, which is not a valid time`, USAGE)

await runScript(async () => {
  const config = loadSettings()
  const log = createLogger('warn')
  const database = await openDatabase(config, { log, share: true })
  try {
    const { db } = database
    await migrate(db)
    const vault = await openVault(db, config.encryptionKeys)
    const queue = await openQueue(database, { worker: false, log })
    const runtime = { config, db, clock: systemClock, metrics: createMetrics(), vault }
    const context = {
      ...runtime,
      openBucket: bucketsOf(runtime, new MemoryBudget(config.uploadMemoryBytes, runtime)),
      emitEvents: (tx: typeof db, ...fileIds: string[]) =>
        emitFileEvent(tx, { queue, clock: systemClock }, ...fileIds),
    }
    const uploads = await findFinished(context)
    const leasesDropped = await dropLapsedLeases(db)
    const dataStores = await listUnknown(context, sinceMs)
    console.log(
      shownJson(JSON.stringify({ since: new Date(sinceMs), uploads, leasesDropped, dataStores }, null, 2)),
    )
    await queue.stop()
  } finally {
    await database.close()
  }
})
