import { and, eq } from 'drizzle-orm'
import { webhookOutputs } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { toWebhookOutput, type WebhookOutput } from './webhook-output.ts'

type Found = { output: typeof webhookOutputs.$inferSelect; pipeName: string }

/** The webhook output of one of the actor's Pipes. */
export async function findOutput(db: Db, actor: Actor, pipeId: string, lock?: 'update'): Promise<Found> {
  const { pipe } = await findPipe(db, actor, pipeId)
  const query = db
    .select()
    .from(webhookOutputs)
    .where(and(eq(webhookOutputs.pipeId, pipeId), eq(webhookOutputs.workspaceId, actor.workspaceId)))
  const [output] = await (lock ? query.for(lock) : query)
  if (!output) throw new SluiceError('not_found', 'This Pipe has no webhook output yet. Create one with PUT.')
  return { output, pipeName: pipe.name }
}

export async function showOutput(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  pipeId: string,
): Promise<WebhookOutput> {
  return toWebhookOutput((await findOutput(db, actor, pipeId)).output)
}
