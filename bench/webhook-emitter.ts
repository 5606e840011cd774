import { emitFileEvent } from '../lib/events/emit-file-event.ts'
import { migrate } from '../lib/platform/db/migrate.ts'
import { openPostgres } from '../lib/platform/db/open-postgres.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { openQueue } from '../lib/platform/queue.ts'
import { addFile, addOutput } from '../test/support/webhook-rows.ts'
import { steadily } from './load.ts'

/**
 * Writes events at the given pace. Reports the CPU time of this process, which does not include PostgreSQL's.
 */
const { DATABASE_URL, RECEIVER, OUTPUTS } = process.env as Record<string, string>
const FILES = 50

const database = openPostgres({ address: DATABASE_URL! })
await migrate(database.db)
const queue = await openQueue(database, { worker: false, log: createLogger('error') })
const first = await addOutput(database.db, RECEIVER!)
const { workspaceId, pipeId } = first
for (let n = 1; n < Number(OUTPUTS); n++)
  await addOutput(database.db, RECEIVER!, { workspaceId, pipeId: null, furtherPipeId: pipeId })
const files = await Promise.all(Array.from({ length: FILES }, () => addFile(database.db, first)))

process.on('message', async (pace: { perSecond: number; seconds: number }) => {
  const before = process.cpuUsage()
  await steadily(pace, (n) =>
    database.db.transaction((tx) =>
      emitFileEvent(tx, { queue, clock: { now: Date.now } }, files[n % FILES]!),
    ),
  )
  const { user, system } = process.cpuUsage(before)
  process.send!({ cpuSeconds: (user + system) / 1e6 })
})
process.once('SIGTERM', async () => {
  await queue.stop()
  await database.close()
  process.exit(0)
})
process.send!('ready')
