import { sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { LIVE_CHANNEL } from '../platform/live-channel.ts'
import type { Queue } from '../platform/queue.ts'

export type NewEvent = {
  id: string
  workspaceId: string
  pipeId: string
  fileId?: string
  test?: true
  body: string
  /** Of the request that it follows from: its deliveries bear them. */
  requestId?: string | null
  traceparent?: string | null
  output: { id: string; url: string }
}

/**
 * The events, a delivery of each, and one job for each output that gets some, in the caller's transaction. Answers the ids of
 * the deliveries, in the order of the events.
 */
export async function writeEvents(
  tx: Db,
  queue: Queue,
  events: readonly NewEvent[],
  at: Date,
): Promise<string[]> {
  const wanted = events.map((event) => recordOf(event, at))
  const now = sql`${at.toISOString()}::timestamptz`
  await rows(
    tx,
    sql`with wanted as (
      select * from json_to_recordset(${JSON.stringify(wanted)}::json) as wanted(id uuid, delivery_id uuid,
        workspace_id uuid, pipe_id text, file_id uuid, test boolean, payload text, request_id text, traceparent text,
        output_id uuid, url text)
    ), event as (
      insert into events (id, workspace_id, pipe_id, file_id, test, payload, created_at, request_id, traceparent)
      select id, workspace_id, pipe_id, file_id, test, payload, ${now}, request_id, traceparent from wanted
    ), delivery as (
      insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, test, webhook_output_id, url, next_trigger, next_attempt_at, created_at)
      select delivery_id, workspace_id, id, pipe_id, file_id, test, output_id, url,
        case when test then 'test' else 'auto' end, ${now}, ${now} from wanted
    )
    select pg_notify(${LIVE_CHANNEL}, workspace_id::text) from (select distinct workspace_id from wanted) told`,
  )
  const outputs = new Map(
    events.map(({ output, workspaceId }) => [output.id, { outputId: output.id, workspaceId }]),
  )
  await queue.enqueueAll(
    tx,
    'webhook-attempt',
    [...outputs.values()].map((data) => ({ data })),
  )
  return wanted.map(({ delivery_id }) => delivery_id)
}

function recordOf(event: NewEvent, at: Date) {
  const { id, workspaceId, pipeId, fileId = null, test = false, body, output } = event
  const { requestId = null, traceparent = null } = event
  return {
    id,
    delivery_id: uuidv7(at.getTime()),
    workspace_id: workspaceId,
    pipe_id: pipeId,
    file_id: fileId,
    test,
    payload: body,
    request_id: requestId,
    traceparent,
    output_id: output.id,
    url: output.url,
  }
}
