import type { Actor } from '../../identity/audit/record-audit.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { listOutputs, type OutputScope } from '../outputs/find-output.ts'
import type { WebhookOutput } from '../outputs/webhook-output.ts'
import type { Delivery } from './delivery.ts'
import { listDeliveries } from './list-deliveries.ts'

export type OutputWithLatest = { output: WebhookOutput; latest: Delivery[] }

const LATEST = 5

/** The outputs of a Pipe or of the workspace, each with its last deliveries. */
export async function listWithLatest(
  runtime: CoreRuntime,
  actor: Actor,
  scope: OutputScope,
): Promise<OutputWithLatest[]> {
  const outputs = await listOutputs(runtime, actor, scope)
  return Promise.all(
    outputs.map(async (output) => ({ output, latest: await latestOf(runtime, actor, output.id) })),
  )
}

export async function latestOf(runtime: CoreRuntime, actor: Actor, outputId: string): Promise<Delivery[]> {
  return (await listDeliveries(runtime, actor, { outputId, limit: LATEST })).data
}
