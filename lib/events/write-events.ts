import { sql } from 'drizzle-orm'
import type { EventKind } from '#drizzle/schema/pipes.ts'
import type { EventTopic } from '#drizzle/schema/webhooks.ts'
import { type Db, LIVE_CHANNEL, rows } from '../platform/db/database.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import type { Queue } from '../platform/queue.ts'

export type NewEvent = {
  id: string
  workspaceId: string
  /** Absent if the event does not concern a single Pipe. */
  pipeId?: string | undefined
  fileId?: string
  kind: EventKind
  test?: true
  /** Null if no output gets the event, and the body can be built later. */
  body: string | null
  /** From the request that caused the event, and passed on to its deliveries. */
  requestId?: string | null
  traceparent?: string | null
  to: readonly { id: string; url: string }[]
  /** The topic of the event if an output missed it, otherwise null. */
  missed: EventTopic | null
}

/**
 * Writes the events, a delivery to each of their outputs, and one job for each output with deliveries, in the
 * caller's transaction. Returns the delivery ids, in event order.
 */
export async function writeEvents(
  tx: Db,
  queue: Queue,
  events: readonly NewEvent[],
  at: Date,
): Promise<string[]> {
  if (events.length === 0) return []
  const given = events.flatMap(({ id, to }) => storedAtOf(id, to, at))
  const now = sql`${at.toISOString()}::timestamptz`
  await rows(
    tx,
    sql`with wanted as (
      select * from json_to_recordset(${JSON.stringify(events.map(recordOf))}::json) as wanted(id uuid, workspace_id uuid,
        pipe_id text, file_id uuid, kind text, test boolean, payload text, missed text, request_id text, traceparent text)
    ), event as (
      insert into events (id, workspace_id, pipe_id, file_id, kind, test, payload, missed_status, fanned_out, created_at,
        request_id, traceparent)
      select id, workspace_id, pipe_id, file_id, kind, test, payload, missed, true, ${now}, request_id, traceparent from wanted
    ), given as (
      select wanted.*, g.delivery_id, g.output_id, g.url
      from json_to_recordset(${JSON.stringify(given)}::json) as g(delivery_id uuid, event_id uuid, output_id uuid, url text)
      join wanted on wanted.id = g.event_id
    ), delivery as (
      insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, test, webhook_output_id, url, next_trigger, next_attempt_at, created_at)
      select delivery_id, workspace_id, id, pipe_id, file_id, test, output_id, url,
        case when test then 'test' else 'auto' end, ${now}, ${now} from given
    )
    select pg_notify(${LIVE_CHANNEL}, workspace_id::text) from (select distinct workspace_id from given) told`,
  )
  await wakeOutputs(tx, queue, events)
  return given.map(({ delivery_id }) => delivery_id)
}

async function wakeOutputs(tx: Db, queue: Queue, events: readonly NewEvent[]): Promise<void> {
  const woken = events.flatMap(({ workspaceId, to }) => to.map(({ id }) => [id, workspaceId] as const))
  if (woken.length === 0) return
  const jobs = [...new Map(woken)].map(([outputId, workspaceId]) => ({ data: { outputId, workspaceId } }))
  await queue.enqueueAll(tx, 'webhook-attempt', jobs)
}

function storedAtOf(eventId: string, to: NewEvent['to'], at: Date) {
  return to.map(({ id, url }) => ({
    delivery_id: uuidv7(at.getTime()),
    event_id: eventId,
    output_id: id,
    url,
  }))
}

function recordOf(event: NewEvent) {
  const { id, workspaceId, pipeId, fileId = null, kind, test = false, body, missed } = event
  const { requestId = null, traceparent = null } = event
  return {
    id,
    workspace_id: workspaceId,
    pipe_id: pipeId ?? workspaceId,
    file_id: fileId,
    kind,
    test,
    payload: body,
    missed,
    request_id: requestId,
    traceparent,
  }
}
