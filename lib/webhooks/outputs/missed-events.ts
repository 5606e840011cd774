import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { events, webhookOutputs } from '#drizzle/schema/index.ts'
import { ENDED_FILE, type EndedFile, fileEventBody, toEventFile } from '../../events/file-event.ts'
import { keptSince } from '../../events/read-events.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { firstUuidAt, uuidv7 } from '../../platform/kernel/ids.ts'
import { timeField } from '../../platform/kernel/parse-input.ts'
import { LIVE_CHANNEL } from '../../platform/live-channel.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { findOutput } from './find-output.ts'

/**
 * Events that were not sent because the Pipe had no webhook output, or it was off or not set to receive that status.
 */
export const missedAnswer = z.strictObject({
  events: z.int(),
  /** There are more than were counted. */
  more: z.boolean(),
  /** The time of the oldest of them. */
  since: z.iso.datetime().nullable(),
})
export type Missed = z.output<typeof missedAnswer>

const MAX_COUNTED = 1000

/**
 * The missed events of the last 30 days with the statuses that the output is set to now; without one, `transferred`.
 */
export async function showMissed(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  pipeId: string,
): Promise<Missed> {
  await findPipe(db, actor, pipeId)
  const [output] = await db
    .select({ statuses: webhookOutputs.statuses })
    .from(webhookOutputs)
    .where(eq(webhookOutputs.pipeId, pipeId))
  const statuses = JSON.stringify(output?.statuses ?? ['transferred'])
  const [found] = await rows<{ events: number; since: string | Date | null }>(
    db,
    sql`select count(*)::int as events, min(created_at) as since from (
      select created_at from events
      where pipe_id = ${pipeId} and missed_status in (select json_array_elements_text(${statuses}::json))
        and id >= ${firstUuidAt(keptSince(clock.now()).getTime())}::uuid
      order by id limit ${MAX_COUNTED + 1}
    ) missed`,
  )
  const { events, since } = found!
  return {
    events: Math.min(events, MAX_COUNTED),
    more: events > MAX_COUNTED,
    since: since && new Date(since).toISOString(),
  }
}

export const sendMissedInput = z.strictObject({
  /** Events from this time on. By default, all that are still stored. */
  since: timeField.optional(),
})
export const sendMissedAnswer = z.strictObject({
  sent: z.int(),
  /** There are more than one call sends: call again. */
  more: z.boolean(),
})

const PER_WORKSPACE = { burst: 100, refillMs: 1000 }
const AT_ONCE = 1000

/** Sends missed events to the output, the oldest first. */
export async function sendMissed(
  { db, clock, queue }: Pick<Runtime, 'db' | 'clock' | 'queue'>,
  actor: Actor,
  pipeId: string,
  { since }: z.output<typeof sendMissedInput>,
): Promise<z.output<typeof sendMissedAnswer>> {
  await takeFromLimit({ db, clock }, `send-missed:${actor.workspaceId}`, PER_WORKSPACE)
  return db.transaction(async (tx) => {
    const { output, pipeName } = await findOutput(tx, actor, pipeId)
    if (!output.enabled) throw new SluiceError('conflict', 'The webhook output is off. Turn it on first.')
    const kept = keptSince(clock.now())
    const missed = await takeMissed(tx, pipeId, output.statuses, since && since > kept ? since : kept)
    if (missed.length > 0) {
      await deliver(tx, missed, output, new Date(clock.now()))
      await queue.enqueue(tx, 'webhook-attempt', { outputId: output.id, workspaceId: actor.workspaceId })
      const subject = { subjectId: pipeId, subjectLabel: pipeName }
      const detail = { sent: missed.length, ...(since && { since: since.toISOString() }) }
      await recordAudit({ db: tx, clock }, actor, { action: 'webhook.missed_sent', ...subject, detail })
    }
    return { sent: missed.length, more: missed.length === AT_ONCE }
  })
}

type MissedEvent = EndedFile & { eventId: string; at: string | Date }

function takeMissed(tx: Db, pipeId: string, statuses: string[], since: Date) {
  return rows<MissedEvent>(
    tx,
    sql`select e.id as "eventId", e.created_at as at, ${ENDED_FILE}
    from (
      select id, file_id, created_at from events
      where pipe_id = ${pipeId} and missed_status in (select json_array_elements_text(${JSON.stringify(statuses)}::json))
        and created_at >= ${since.toISOString()}::timestamptz
      order by id limit ${AT_ONCE} for update skip locked
    ) e join files f on f.id = e.file_id
    order by e.id`,
  )
}

/** Each delivery gets the time of its event, since retention is counted from there. */
async function deliver(
  tx: Db,
  missed: MissedEvent[],
  output: { id: string; url: string; workspaceId: string },
  now: Date,
): Promise<void> {
  const sent = missed.map(({ eventId, at, ...file }) => {
    const happened = new Date(at)
    const body = fileEventBody({ id: eventId, at: happened, file: toEventFile(file) })
    return { event: eventId, body, delivery: uuidv7(happened.getTime()) }
  })
  await rows(
    tx,
    sql`with sent as (
      select * from json_to_recordset(${JSON.stringify(sent)}::json) as s(event uuid, body text, delivery uuid)
    ), filled as (
      update events e set payload = sent.body, missed_status = null from sent where e.id = sent.event
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

/** Deletes the missed events of a Pipe, so that they can no longer be sent. The files stay. */
export async function discardMissed(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  pipeId: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { pipe } = await findPipe(tx, actor, pipeId)
    await tx.delete(events).where(and(eq(events.pipeId, pipeId), isNotNull(events.missedStatus)))
    const subject = { subjectId: pipeId, subjectLabel: pipe.name }
    await recordAudit({ db: tx, clock }, actor, { action: 'webhook.missed_discarded', ...subject })
  })
}
