import { and, eq, lte } from 'drizzle-orm'
import { pipes, webhookOutputs } from '#drizzle/schema/index.ts'
import { recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { subjectOf } from './find-output.ts'
import { pipeOf } from './webhook-output.ts'

export type TurningOff = Pick<Runtime, 'clock' | 'queue'>

/** Turns an output off on Sluice's own account. Its page, the audit log and an alert, which reads the row, say so. */
export async function turnOffOutput(
  runtime: TurningOff,
  tx: Db,
  { id, url, failingSince }: { id: string; url: string; failingSince: Date | null },
  reason: string,
): Promise<void> {
  const now = new Date(runtime.clock.now())
  const [output] = await tx
    .update(webhookOutputs)
    .set({ enabled: false, turnedOffReason: reason, turnedOffAt: now, updatedAt: now })
    .where(
      and(
        eq(webhookOutputs.id, id),
        eq(webhookOutputs.enabled, true),
        // Only if the failing address is still the current one: the customer may have changed it in the meantime.
        eq(webhookOutputs.url, url),
        // Only if no other attempt has succeeded in the meantime.
        failingSince ? lte(webhookOutputs.failingSince, failingSince) : undefined,
      ),
    )
    .returning()
  if (!output) return
  const pipeId = pipeOf(output)
  const [pipe] = pipeId ? await tx.select({ name: pipes.name }).from(pipes).where(eq(pipes.id, pipeId)) : []
  const actor = {
    workspaceId: output.workspaceId,
    kind: 'system',
    id: null,
    label: 'Sluice',
    role: 'owner',
  } as const
  await recordAudit({ db: tx, clock: runtime.clock }, actor, {
    action: 'webhook.turned_off',
    ...subjectOf(output, pipe?.name ?? null),
    detail: { reason },
  })
}
