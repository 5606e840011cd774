import { sql } from 'drizzle-orm'
import { fromDrizzle, PgBoss } from 'pg-boss'
import type { DatabaseHandle, Db } from './db/database.ts'
import { isOutage } from './db/faults.ts'
import type { Logger } from './log/log.ts'

const QUEUES = ['webhook-attempt', 'mail'] as const
export type QueueName = (typeof QUEUES)[number]

/**
 * The queue is pg-boss on the database that stores everything else, so the transaction that makes a job necessary can
 * add it. A job is only a timer: the rows it refers to are authoritative, and a sweep finds rows that a crash left
 * without a job.
 */
export type Queue = {
  /** Commits or rolls back with `tx`. */
  enqueue(tx: Db, queue: QueueName, data: object, options?: { startAfter?: Date }): Promise<void>
  /** Adds many jobs in one statement. */
  enqueueAll(tx: Db, queue: QueueName, jobs: { data: object; startAfter?: Date }[]): Promise<void>
  work<Data extends object>(
    queue: QueueName,
    concurrency: number,
    handle: (data: Data) => Promise<void>,
  ): Promise<void>
  /** Takes all available jobs together, up to `batchSize`, for jobs that are cheaper to process in a batch. */
  workBatches<Data extends object>(
    queue: QueueName,
    batchSize: number,
    handle: (data: Data[]) => Promise<void>,
  ): Promise<void>
  stop(): Promise<void>
}

type QueueOptions = { worker: boolean; log: Logger }

/**
 * The queue's own connections only take and complete jobs; jobs are added on other connections. If a database crash
 * loses the fact that a job was taken, the job is taken again, so these commits do not have to wait for the disk.
 */
const NO_WAIT = '-c synchronous_commit=off'

/** NOTIFY wakes a worker for jobs that are due now; polling finds jobs that become due later. */
const POLL = { pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 1 }

export async function openQueue({ direct }: DatabaseHandle, options: QueueOptions): Promise<Queue> {
  const { address, isBesidePooler, socket } = direct
  const place = typeof address === 'string' ? { connectionString: address } : address
  const boss = new PgBoss({
    ...place,
    // An option of pg, which pg-boss uses to connect.
    ...({ stream: socket } as object),
    max: isBesidePooler ? 2 : 4,
    application_name: 'sluice-queue',
    options: NO_WAIT,
    useListenNotify: true,
    supervise: options.worker,
    schedule: false,
  })
  boss.on('error', (error: unknown) => options.log.error({ err: asFault(error) }, 'the job queue failed'))
  await boss.start()
  for (const name of QUEUES)
    await boss.createQueue(name, {
      notify: true,
      retryLimit: 3,
      expireInSeconds: 120,
      deleteAfterSeconds: 300,
    })
  return {
    async enqueue(tx, queue, data, { startAfter } = {}) {
      await boss.send(queue, data, { db: fromDrizzle(tx as never, sql), ...(startAfter && { startAfter }) })
    },
    async enqueueAll(tx, queue, jobs) {
      if (jobs.length === 0) return
      await boss.insert(queue, jobs, { db: fromDrizzle(tx as never, sql) })
    },
    async work(queue, concurrency, handle) {
      await boss.work(queue, { ...POLL, localConcurrency: concurrency }, async ([job]) =>
        handle(job!.data as never),
      )
    },
    async workBatches(queue, batchSize, handle) {
      await boss.work(queue, { ...POLL, batchSize, burstWhenBatchFull: true }, async (jobs) =>
        handle(jobs.map(({ data }) => data as never)),
      )
    },
    stop: () => boss.stop({ graceful: true, close: true, timeout: 10_000 }),
  }
}

const LOST =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|LISTEN\/NOTIFY/

/**
 * Adds a code to the error for a lost connection, which pg-boss reports without one. The lost connection must be to the
 * database, because pg-boss opens no others. An error from one of its workers arrives as a copy that is no longer an
 * Error.
 */
function asFault(told: unknown): Error {
  const error = told instanceof Error ? told : Object.assign(new Error(), told)
  if (!LOST.test(error.message) && !isOutage(error)) return error
  return Object.assign(new Error('The queue has lost its connection to the database.', { cause: error }), {
    code: 'CONNECTION_CLOSED',
  })
}
