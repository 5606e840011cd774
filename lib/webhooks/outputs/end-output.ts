import { and, asc, eq, lte } from 'drizzle-orm'
import { pipes, webhookOutputs } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { findOutput, subjectOf } from './find-output.ts'
import { pipeOf } from './webhook-output.ts'

/**
 * Deletes an output. Its pending deliveries are dropped; its log is kept as long as that of any other output. The
 * Pipe's next output becomes the first one, which `PUT /pipes/:id/webhook` addresses.
 */
export async function deleteOutput(
  { db, clock }: CoreRuntime,
  actor: Actor,
  outputId: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { output, subject } = await findOutput(tx, actor, { outputId })
    const pipeId = pipeOf(output)
    if (pipeId) await findPipe(tx, actor, pipeId, 'update')
    await tx.delete(webhookOutputs).where(eq(webhookOutputs.id, outputId))
    if (pipeId) {
      const [first] = await tx
        .select({ id: webhookOutputs.id, isFirst: webhookOutputs.pipeId })
        .from(webhookOutputs)
        .where(eq(webhookOutputs.scope, pipeId))
        .orderBy(asc(webhookOutputs.id))
        .limit(1)
      if (first && first.isFirst === null)
        await tx
          .update(webhookOutputs)
          .set({ pipeId, furtherPipeId: null })
          .where(eq(webhookOutputs.id, first.id))
    }
    await recordAudit({ db: tx, clock }, actor, {
      action: 'webhook.deleted',
      ...subject,
      detail: { url: output.url, enabled: output.enabled },
    })
  })
}

export type TurningOff = Pick<Runtime, 'clock' | 'queue'>

/**
 * Turns an output off automatically. Its page and the audit log show this, and so does an alert, which is derived from
 * the row.
 */
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
        // The customer may have changed the address since the failed attempt.
        eq(webhookOutputs.url, url),
        // Another attempt may have succeeded in the meantime, which resets `failingSince`.
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
