import { asc, eq } from 'drizzle-orm'
import { webhookOutputs } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { findOutput } from './find-output.ts'
import { pipeOf } from './webhook-output.ts'

/**
 * What is still to be sent to it is given up; its log stays for as long as all others. The next of its Pipe becomes the
 * first, which is what `PUT /pipes/:id/webhook` addresses.
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
