import { sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { LIVE_CHANNEL } from '../platform/live-channel.ts'
import type { Queue } from '../platform/queue/open-queue.ts'

type NewEvent = {
  id: string
  workspaceId: string
  pipeId: string
  fileId?: string
  test?: true
  body: string
  at: Date
  /** Of the request that it follows from: its deliveries bear them. */
  requestId?: string | null
  traceparent?: string | null
  output: { id: string; url: string }
}

/** The event, its one delivery, and the job of the first attempt, in the caller's transaction. Answers the delivery's id. */
export async function writeEvent(tx: Db, queue: Queue, event: NewEvent): Promise<string> {
  const { id, workspaceId, pipeId, fileId, test = false, body, at, output } = event
  const { requestId = null, traceparent = null } = event
  const deliveryId = uuidv7(at.getTime())
  const now = at.toISOString()
  await rows(
    tx,
    sql`with event as (
      insert into events (id, workspace_id, pipe_id, file_id, test, payload, created_at, request_id, traceparent)
      values (${id}, ${workspaceId}, ${pipeId}, ${fileId ?? null}, ${test}, ${body}, ${now}::timestamptz,
        ${requestId}, ${traceparent})
    ), delivery as (
      insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, test, webhook_output_id, url, next_trigger, next_attempt_at, created_at)
      values (${deliveryId}, ${workspaceId}, ${id}, ${pipeId}, ${fileId ?? null}, ${test}, ${output.id}, ${output.url},
        ${test ? 'test' : 'auto'}, ${now}::timestamptz, ${now}::timestamptz)
    )
    select pg_notify(${LIVE_CHANNEL}, ${workspaceId}::text)`,
  )
  await queue.enqueue(tx, 'webhook-attempt', { outputId: output.id, workspaceId })
  return deliveryId
}
