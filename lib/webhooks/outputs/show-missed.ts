import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { webhookOutputs } from '#drizzle/schema/index.ts'
import { keptSince } from '../../events/kept-since.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import { firstUuidAt } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/find-pipe.ts'

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
