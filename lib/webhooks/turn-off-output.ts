import { and, eq } from 'drizzle-orm'
import { pipes, webhookOutputs } from '#drizzle/schema/index.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { Runtime } from '../runtime.ts'

/** Sluice itself turns an output off, and says so: on its page, in the audit log and by mail. */
export async function turnOffOutput(
  { db, clock }: Pick<Runtime, 'db' | 'clock' | 'queue'>,
  { id, url }: { id: string; url: string },
  reason: string,
): Promise<void> {
  const now = new Date(clock.now())
  const [output] = await db
    .update(webhookOutputs)
    .set({ enabled: false, turnedOffReason: reason, turnedOffAt: now, updatedAt: now })
    // What one address said is no verdict on another that the customer has entered meanwhile.
    .where(and(eq(webhookOutputs.id, id), eq(webhookOutputs.enabled, true), eq(webhookOutputs.url, url)))
    .returning()
  if (!output) return
  const [pipe] = await db.select({ name: pipes.name }).from(pipes).where(eq(pipes.id, output.pipeId))
  const actor = { workspaceId: output.workspaceId, kind: 'system', id: null, label: 'Sluice' } as const
  await recordAudit({ db, clock }, actor, {
    action: 'webhook.turned_off',
    subjectId: output.pipeId,
    subjectLabel: pipe!.name,
    detail: { reason },
  })
}
