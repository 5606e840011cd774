import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findOutput } from './find-output.ts'
import { toWebhookOutput, type WebhookOutput } from './webhook-output.ts'

export async function showOutput(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  pipeId: string,
): Promise<WebhookOutput> {
  return toWebhookOutput((await findOutput(db, actor, pipeId)).output)
}
