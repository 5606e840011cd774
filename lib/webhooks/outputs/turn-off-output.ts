import { and, eq } from 'drizzle-orm'
import { pipes, webhookOutputs } from '#drizzle/schema/index.ts'
import { recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Runtime } from '../../platform/runtime.ts'

export type TurningOff = Pick<Runtime, 'clock' | 'queue'>

/** Sluice itself turns an output off, and says so: on its page, in the audit log and by an alert, which looks at its row. */
export async function turnOffOutput(
  runtime: TurningOff,
  tx: Db,
  { id, url }: { id: string; url: string },
  reason: string,
): Promise<void> {
  const now = new Date(runtime.clock.now())
  const [output] = await tx
    .update(webhookOutputs)
    .set({ enabled: false, turnedOffReason: reason, turnedOffAt: now, updatedAt: now })
    // Only for the address that failed: the customer may have entered another meanwhile.
    .where(and(eq(webhookOutputs.id, id), eq(webhookOutputs.enabled, true), eq(webhookOutputs.url, url)))
    .returning()
  if (!output) return
  const [pipe] = await tx
    .select({ id: pipes.id, name: pipes.name })
    .from(pipes)
    .where(eq(pipes.id, output.pipeId))
  const actor = { workspaceId: output.workspaceId, kind: 'system', id: null, label: 'Sluice' } as const
  await recordAudit({ db: tx, clock: runtime.clock }, actor, {
    action: 'webhook.turned_off',
    subjectId: pipe!.id,
    subjectLabel: pipe!.name,
    detail: { reason },
  })
}
