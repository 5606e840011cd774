import { and, eq, isNotNull } from 'drizzle-orm'
import { events } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/find-pipe.ts'

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
