import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { emitFileEvent } from '../lib/events/emit-file-event.ts'
import type { Db } from '../lib/platform/db/database.ts'
import { migrate } from '../lib/platform/db/migrate.ts'
import { openPostgres } from '../lib/platform/db/open-postgres.ts'
import { systemClock } from '../lib/platform/kernel/clock.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { openQueue, type Queue } from '../lib/platform/queue.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { startWebhookWorkerProcess } from '../test/support/start-webhook-worker.ts'
import { addFile } from '../test/support/webhook-rows.ts'

/** A database, a receiver, an event writer and a worker, each in its own process. */
export type Stage = {
  db: Db
  queue: Queue
  databaseUrl: string
  receiver: Receiver
  [Symbol.asyncDispose](): Promise<void>
}

export async function openStage(serverUrl: string): Promise<Stage> {
  const { url: databaseUrl, drop } = await createDatabase(serverUrl)
  const database = openPostgres({ address: databaseUrl })
  await migrate(database.db)
  const queue = await openQueue(database, { worker: false, log: createLogger('error') })
  const receiver = await startReceiver()
  return {
    db: database.db,
    queue,
    databaseUrl,
    receiver,
    async [Symbol.asyncDispose]() {
      receiver.stop()
      await queue.stop()
      await database.close()
      await drop()
    },
  }
}

/** Starts a worker and warms it up, since a process's first events include the cost of loading code. */
export async function startWorker({ databaseUrl }: Pick<Stage, 'databaseUrl'>, program?: string) {
  const worker = await startWebhookWorkerProcess(databaseUrl, { QUIET: '1' }, program)
  await worker.printed('ready')
  return worker
}

export async function emit(
  { db, queue }: Stage,
  place: { workspaceId: string; pipeId: string },
): Promise<void> {
  const fileId = await addFile(db, place)
  await db.transaction((tx) => emitFileEvent(tx, { queue, clock: systemClock }, fileId))
}

export type Receiver = { url: string; delays(count: number): Promise<number[]>; stop(): void }

export async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'webhook-receiver.ts'))
  const [port] = (await once(child, 'message')) as [number]
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    /** Returns the delays of the next events, once all have arrived. */
    async delays(count) {
      const all: number[] = []
      while (all.length < count) {
        all.push(...((await (await fetch(url)).json()) as number[]))
        await pause(20)
      }
      return all
    },
    stop: () => child.kill(),
  }
}
