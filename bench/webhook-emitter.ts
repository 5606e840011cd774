import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { steadily } from './load.ts'

/**
 * Writes events at the given pace, using the version whose source is in SOURCE. Reports the CPU time of this process,
 * which does not include PostgreSQL's.
 */
const { SOURCE, DATABASE_URL, RECEIVER, OUTPUTS } = process.env as Record<string, string>
const FILES = 50

type Rows = typeof import('../test/support/webhook-rows.ts')
type Events = typeof import('../lib/events/emit-file-event.ts')
type Queues = typeof import('../lib/platform/queue.ts')
type Postgres = typeof import('../lib/platform/db/open-postgres.ts')
type Migrate = typeof import('../lib/platform/db/migrate.ts')
type Log = typeof import('../lib/platform/log/log.ts')

const from = (path: string) => import(join(SOURCE!, path))
const { addOutput, addFile } = (await from('test/support/webhook-rows.ts')) as Rows
const { emitFileEvent } = (await from('lib/events/emit-file-event.ts')) as Events
const { openPostgres } = (await from('lib/platform/db/open-postgres.ts')) as Postgres
const { migrate } = (await from('lib/platform/db/migrate.ts')) as Migrate
const { createLogger } = (await from('lib/platform/log/log.ts')) as Log
// This file has moved since the older version.
const queueFile = ['lib/platform/queue.ts', 'lib/platform/queue/open-queue.ts'].find((path) =>
  existsSync(join(SOURCE!, path)),
)
const { openQueue } = (await from(queueFile!)) as Queues

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
