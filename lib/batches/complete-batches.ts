import { sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/files.ts'
import type { EventData } from '../events/event-schemas.ts'
import { eventBody } from '../events/file-event.ts'
import { address, type EventOutput, outputsOf } from '../events/outputs-of.ts'
import { type NewEvent, writeEvents } from '../events/write-events.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import type { MailingRuntime } from '../platform/runtime.ts'
import { IS_OPEN, isInBatch } from './batch.ts'
import { mailArrivals } from './mail-arrivals.ts'

/**
 * A batch is complete once it is sealed and all its files have ended. A sweep detects this, so that ending a file needs
 * no extra work. The event and emails are written in the transaction that marks the batch, which can only be marked
 * once.
 */
const KIND = 'batch.completed'
export const BATCHES_AT_ONCE = 20
/** The maximum number of a batch's files that its event lists. */
const MAX_LISTED = 5000

export const BATCH_CHECKPOINTS = ['batch marked', 'batch completed'] as const
export type BatchCheckpoint = (typeof BATCH_CHECKPOINTS)[number]

export async function completeBatches(
  runtime: MailingRuntime,
  checkpoint: (name: BatchCheckpoint) => void = () => {},
): Promise<number> {
  const at = new Date(runtime.clock.now())
  const completed = await runtime.db.transaction(async (tx) => {
    const marked = await mark(tx, at)
    const events = []
    for (const batch of marked) events.push(eventOf(batch, await endedFiles(tx, batch.id), at))
    if (marked.length > 0) checkpoint('batch marked')
    await writeEvents(tx, runtime.queue, events, at)
    await mailArrivals({ ...runtime, db: tx }, marked)
    return marked.length
  })
  if (completed > 0) checkpoint('batch completed')
  return completed
}

type Marked = {
  id: string
  workspaceId: string
  pipeId: string
  name: string
  byToken: boolean
  sender: string
  subject: string | null
  sealedAt: string
  outputs: EventOutput[]
}

/** Two nodes never mark the same batch, because each skips rows that are locked by the other or already marked. */
function mark(tx: Db, at: Date): Promise<Marked[]> {
  return rows<Marked>(
    tx,
    sql`with due as (
      select b.id from batches b where b.sealed_at is not null and b.completed_at is null
        and not exists (select from files f where ${isInBatch(sql`b.id`)} and ${IS_OPEN})
      order by b.sealed_at limit ${BATCHES_AT_ONCE} for update of b skip locked
    )
    update batches b set completed_at = ${at.toISOString()}::timestamptz from due where b.id = due.id
    returning b.id, b.workspace_id as "workspaceId", b.pipe_id as "pipeId", b.name, b.by_token as "byToken",
      coalesce((select s.name from senders s where s.id = b.sender_id), '') as sender, b.subject,
      b.sealed_at as "sealedAt", ${outputsOf(sql`b.pipe_id`, sql`b.workspace_id`)} as outputs`,
  )
}

type Ended = EventData<typeof KIND>['files'][number]

function endedFiles(tx: Db, batchId: string): Promise<Ended[]> {
  return rows<Ended>(
    tx,
    sql`select f.id as file_id, f.status from files f where ${isInBatch(sql`${batchId}::uuid`)} order by f.id`,
  )
}

function eventOf(batch: Marked, files: Ended[], at: Date): NewEvent {
  const id = uuidv7(at.getTime())
  const { workspaceId, pipeId, name, byToken, sender, subject, sealedAt, outputs } = batch
  const { to, isMissed } = address(outputs, KIND, KIND)
  const count = (status: FileStatus) => files.filter((file) => file.status === status).length
  const data: EventData<typeof KIND> = {
    pipe_id: pipeId,
    batch_id: batch.id,
    batch: name,
    namedBy: byToken ? 'token' : 'uploader',
    sender,
    subject,
    sealedAt: new Date(sealedAt).toISOString(),
    total: files.length,
    transferred: count('transferred'),
    partially_transferred: count('partially_transferred'),
    failed: count('failed'),
    expired: count('expired'),
    canceled: count('canceled'),
    files: files.slice(0, MAX_LISTED),
  }
  const missed = isMissed ? KIND : null
  return { id, workspaceId, pipeId, kind: KIND, body: eventBody(KIND, { id, at }, data), to, missed }
}
