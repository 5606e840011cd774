import { sql } from 'drizzle-orm'
import { type Db, LIVE_CHANNEL, rows } from '../platform/db/database.ts'
import type { Clock } from '../platform/kernel/clock.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import type { Queue } from '../platform/queue.ts'
import { ENDED_FILE, type EndedFile, fileEventBody, toEventFile } from './file-event.ts'
import { address, type EventOutput, outputsOf } from './outputs-of.ts'

const AT_ONCE = 200

/**
 * Nodes running the previous version send an event only to a Pipe's first output. While such nodes run, this adds the
 * deliveries for all other outputs that existed when the event happened. Without such nodes, it finds nothing.
 */
export async function fanOutEvents({
  db,
  clock,
  queue,
}: {
  db: Db
  clock: Clock
  queue: Queue
}): Promise<number> {
  let done = 0
  for (;;) {
    const found = await db.transaction((tx) => fanOutSome(tx, queue, new Date(clock.now())))
    done += found
    if (found < AT_ONCE) return done
  }
}

async function fanOutSome(tx: Db, queue: Queue, now: Date): Promise<number> {
  const found = await takeSome(tx)
  if (found.length === 0) return 0
  const fanned = found.map(fan)
  await rows(
    tx,
    sql`with fanned as (
      select * from json_to_recordset(${JSON.stringify(fanned)}::json)
        as fanned(id uuid, payload text, missed text, given json)
    ), told as (
      update events e set fanned_out = true, payload = coalesce(e.payload, fanned.payload), missed_status = fanned.missed
      from fanned where e.id = fanned.id
      returning e.id, e.workspace_id, e.pipe_id, e.file_id, e.created_at, fanned.given
    ), delivered as (
      insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, webhook_output_id, url, next_attempt_at, created_at)
      select g.delivery_id, workspace_id, id, pipe_id, file_id, g.output_id, g.url, ${now.toISOString()}::timestamptz, created_at
      from told cross join json_to_recordset(told.given) as g(delivery_id uuid, output_id uuid, url text)
      returning workspace_id
    )
    select pg_notify(${LIVE_CHANNEL}, workspace_id::text) from (select distinct workspace_id from delivered) changed`,
  )
  const woken = new Map(
    fanned.flatMap(({ given, workspaceId }) => given.map(({ output_id }) => [output_id, workspaceId])),
  )
  const jobs = [...woken].map(([outputId, workspaceId]) => ({ data: { outputId, workspaceId } }))
  if (jobs.length > 0) await queue.enqueueAll(tx, 'webhook-attempt', jobs)
  return found.length
}

type PendingEvent = Omit<EndedFile, 'id'> & {
  id: string | null
  eventId: string
  eventAtMs: number
  ofWorkspace: string
  test: boolean
  payload: string | null
  outputs: EventOutput[]
  /** Outputs that already have a delivery of this event. */
  given: string[]
}

function takeSome(tx: Db): Promise<PendingEvent[]> {
  return rows<PendingEvent>(
    tx,
    sql`with taken as (
      delete from events_to_fan_out where event_id in (
        select event_id from events_to_fan_out order by event_id limit ${AT_ONCE} for update skip locked
      ) returning event_id
    ), e as (select events.* from taken join events on events.id = taken.event_id)
    select ${ENDED_FILE}, e.id as "eventId", floor(extract(epoch from e.created_at) * 1000)::float8 as "eventAtMs",
      e.workspace_id as "ofWorkspace", e.test, e.payload, ${outputsOf(sql`e.pipe_id`, sql`e.workspace_id`)} as outputs,
      (select coalesce(json_agg(d.webhook_output_id), '[]') from deliveries d where d.event_id = e.id) as given
    from e left join files f on f.id = e.file_id order by e.id`,
  )
}

function fan({ eventId, eventAtMs, ofWorkspace, test, payload, outputs, given, ...file }: PendingEvent) {
  const at = new Date(eventAtMs)
  const there = outputs.filter(({ createdAtMs }) => createdAtMs <= eventAtMs)
  const nothing = { id: eventId, payload: null, missed: null, given: [], workspaceId: ofWorkspace }
  // A test event is written with its only delivery. About a file whose record was erased, there is nothing to report.
  if (test || !isThere(file)) return nothing
  const { to, isMissed } = address(there, 'file.status_changed', file.status)
  const further = to.filter(({ id }) => !given.includes(id))
  const fresh = payload ?? fileEventBody({ id: eventId, at, file: toEventFile(file) })
  return {
    ...nothing,
    payload: further.length > 0 ? fresh : null,
    missed: isMissed ? file.status : null,
    given: further.map(({ id, url }) => ({ delivery_id: uuidv7(eventAtMs), output_id: id, url })),
  }
}

const isThere = (file: Omit<EndedFile, 'id'> & { id: string | null }): file is EndedFile => file.id !== null
