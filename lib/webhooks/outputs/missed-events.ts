import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { ENDED_FILE, type EndedFile, fileEventBody, toEventFile } from '../../events/file-event.ts'
import { topicsOf } from '../../events/outputs-of.ts'
import { keptSince } from '../../events/read-events.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { type Db, LIVE_CHANNEL, rows } from '../../platform/db/database.ts'
import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { firstUuidAt, uuidv7 } from '../../platform/kernel/ids.ts'
import { timeField } from '../../platform/kernel/parse-input.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { findOutput, type OutputRef } from './find-output.ts'
import { type OutputRow, pipeOf } from './webhook-output.ts'

/**
 * Events that were not sent to an output because it was off, missing, or not set to receive them. An event only records
 * that at least one output missed it. The outputs that missed it are those without a delivery of it.
 */
export const missedAnswer = z.strictObject({
  events: z.int(),
  /** True if there are more than were counted. */
  more: z.boolean(),
  /** The time of the oldest missed event. */
  since: z.iso.datetime().nullable(),
})
export type Missed = z.output<typeof missedAnswer>

const MAX_COUNTED = 1000

/**
 * The missed events of the last 30 days that the output now subscribes to. A Pipe without an output misses the events
 * of files that have an object.
 */
export async function showMissed({ db, clock }: CoreRuntime, actor: Actor, ref: OutputRef): Promise<Missed> {
  const output = await outputOrNone(db, actor, ref)
  const since = keptSince(clock.now())
  const missed = output ? missedBy(output, since) : missedByAll((ref as { firstOf: string }).firstOf, since)
  const [found] = await rows<{ events: number; since: string | Date | null }>(
    db,
    sql`select count(*)::int as events, min(created_at) as since from (
      select created_at from (${missed}) e order by id limit ${MAX_COUNTED + 1}
    ) missed`,
  )
  const { events, since: oldest } = found!
  return {
    events: Math.min(events, MAX_COUNTED),
    more: events > MAX_COUNTED,
    since: oldest && new Date(oldest).toISOString(),
  }
}

async function outputOrNone(db: Db, actor: Actor, ref: OutputRef): Promise<OutputRow | undefined> {
  try {
    return (await findOutput(db, actor, ref)).output
  } catch (error) {
    if ('firstOf' in ref && isSluiceError(error) && error.code === 'not_found') return undefined
    throw error
  }
}

/** Reads the index on missed events: for one Pipe, or for each of a workspace's Pipes in turn. */
function missedBy(output: OutputRow, since: Date): SQL {
  const pipeId = pipeOf(output)
  const scopes = pipeId
    ? sql`select ${pipeId}::text as id`
    : sql`select id from pipes where workspace_id = ${output.workspaceId}::uuid
        union all select ${output.workspaceId}::text`
  const after = output.missedAfter && output.missedAfter > since ? output.missedAfter : since
  return sql`select e.* from (${scopes}) scope join events e on e.pipe_id = scope.id
    where e.missed_status in (select json_array_elements_text(${JSON.stringify(topicsOf(output))}::json))
      and e.id >= ${firstUuidAt(after.getTime())}::uuid and e.created_at >= ${after.toISOString()}::timestamptz
      and (e.payload is null or e.created_at >= ${output.createdAt.toISOString()}::timestamptz)
      and not exists (select from deliveries d where d.event_id = e.id and d.webhook_output_id = ${output.id}::uuid)`
}

function missedByAll(pipeId: string, since: Date): SQL {
  return sql`select e.* from events e where e.pipe_id = ${pipeId} and e.missed_status in ('transferred', 'partially_transferred')
    and e.payload is null and e.id >= ${firstUuidAt(since.getTime())}::uuid`
}

export const sendMissedInput = z.strictObject({
  /** Events from this time on. Defaults to all that are still stored. */
  since: timeField.optional(),
})
export const sendMissedAnswer = z.strictObject({
  sent: z.int(),
  /** True if more events remain than one call sends. Call again to continue. */
  more: z.boolean(),
})

const PER_WORKSPACE = { burst: 100, refillMs: 1000 }
const AT_ONCE = 1000

/** Sends missed events to the output, oldest first. */
export async function sendMissed(
  { db, clock, queue }: Pick<Runtime, 'db' | 'clock' | 'queue'>,
  actor: Actor,
  ref: OutputRef,
  { since }: z.output<typeof sendMissedInput>,
): Promise<z.output<typeof sendMissedAnswer>> {
  await takeFromLimit({ db, clock }, `send-missed:${actor.workspaceId}`, PER_WORKSPACE)
  return db.transaction(async (tx) => {
    const { output, subject } = await findOutput(tx, actor, ref)
    if (!output.enabled) throw new SluiceError('conflict', 'The webhook output is off. Turn it on first.')
    const kept = keptSince(clock.now())
    const missed = await takeMissed(tx, output, since && since > kept ? since : kept)
    if (missed.length > 0) {
      await deliver(tx, missed, output, new Date(clock.now()))
      await queue.enqueue(tx, 'webhook-attempt', { outputId: output.id, workspaceId: actor.workspaceId })
      const detail = { sent: missed.length, ...(since && { since: since.toISOString() }) }
      await recordAudit({ db: tx, clock }, actor, { action: 'webhook.missed_sent', ...subject, detail })
    }
    return { sent: missed.length, more: missed.length === AT_ONCE }
  })
}

type MissedEvent = EndedFile & { eventId: string; at: string | Date; payload: string | null }

function takeMissed(tx: Db, output: OutputRow, since: Date) {
  return rows<MissedEvent>(
    tx,
    sql`with e as (
      select * from events where id in (select id from (${missedBy(output, since)}) missed order by id limit ${AT_ONCE})
      for update skip locked
    )
    select e.id as "eventId", e.created_at as at, e.payload, ${ENDED_FILE}
    from e left join files f on f.id = e.file_id
    where e.payload is not null or f.id is not null
    order by e.id`,
  )
}

/**
 * Each delivery gets the time of its event, from which retention is counted. The event stays marked as missed while
 * another output has not received it.
 */
async function deliver(tx: Db, missed: MissedEvent[], output: OutputRow, now: Date): Promise<void> {
  const sent = missed.map(({ eventId, at, payload, ...file }) => {
    const happened = new Date(at)
    const body = payload ?? fileEventBody({ id: eventId, at: happened, file: toEventFile(file) })
    return { event: eventId, body, delivery: uuidv7(happened.getTime()) }
  })
  await rows(
    tx,
    sql`with sent as (
      select * from json_to_recordset(${JSON.stringify(sent)}::json) as s(event uuid, body text, delivery uuid)
    ), filled as (
      update events e set payload = sent.body, fanned_out = true,
        missed_status = case when ${isMissedByAnother(output)} then missed_status end
      from sent where e.id = sent.event
      returning e.id, e.workspace_id, e.pipe_id, e.file_id, e.created_at, sent.delivery
    ), given as (
      insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, webhook_output_id, url, next_trigger, next_attempt_at, created_at)
      select delivery, workspace_id, id, pipe_id, file_id, ${output.id}::uuid, ${output.url}, 'manual',
        ${now.toISOString()}::timestamptz, created_at
      from filled
    )
    select pg_notify(${LIVE_CHANNEL}, ${output.workspaceId}::text)`,
  )
}

/** Whether another output that existed when the event `e` happened has no delivery for it. */
function isMissedByAnother({ id }: OutputRow): SQL {
  return sql`exists (select from webhook_outputs o
    where o.scope in (e.pipe_id, e.workspace_id::text) and o.id <> ${id}::uuid and o.created_at <= e.created_at
      and not exists (select from deliveries d where d.event_id = e.id and d.webhook_output_id = o.id))`
}

/**
 * Discards the events that the output has missed. For a Pipe's output, if neither the Pipe nor its workspace has
 * another one, events without a payload are deleted, so that no future output finds them; it would not find the others
 * anyway. For a workspace output, no events are deleted. The files stay.
 */
export async function discardMissed({ db, clock }: CoreRuntime, actor: Actor, ref: OutputRef): Promise<void> {
  await db.transaction(async (tx) => {
    const output = await outputOrNone(tx, actor, ref)
    const pipeId = output ? pipeOf(output) : (ref as { firstOf: string }).firstOf
    if (pipeId) await deleteUnsent(tx, pipeId, output)
    if (output)
      await tx.execute(
        sql`update webhook_outputs set missed_after = ${new Date(clock.now()).toISOString()}::timestamptz where id = ${output.id}`,
      )
    const subject = output
      ? (await findOutput(tx, actor, ref)).subject
      : { subjectId: pipeId!, subjectLabel: (await findPipe(tx, actor, pipeId!)).pipe.name }
    await recordAudit({ db: tx, clock }, actor, { action: 'webhook.missed_discarded', ...subject })
  })
}

async function deleteUnsent(tx: Db, pipeId: string, output: OutputRow | undefined): Promise<void> {
  const nobody = '00000000-0000-0000-0000-000000000000'
  await tx.execute(
    sql`delete from events e where e.pipe_id = ${pipeId} and e.missed_status is not null and e.payload is null
      and not exists (select from webhook_outputs o where o.scope in (e.pipe_id, e.workspace_id::text)
        and o.id <> ${output?.id ?? nobody}::uuid)`,
  )
}
