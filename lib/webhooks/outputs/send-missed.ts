import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { ENDED_FILE, type EndedFile, toEventFile } from '../../events/ended-file.ts'
import { fileEventBody } from '../../events/file-event.ts'
import { keptSince } from '../../events/kept-since.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { timeField } from '../../platform/kernel/fields.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { LIVE_CHANNEL } from '../../platform/live-channel.ts'
import { takeFromLimit } from '../../platform/rate-limits/take.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findOutput } from './find-output.ts'

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
