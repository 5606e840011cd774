import { createGuardedAgents } from '../../platform/net/guarded-agents.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { webhookHosts } from '../outputs/save-output.ts'
import { type Attempt, type Checkpoint, KEPT_MS, POST_LIMITS } from './deliver.ts'
import { Dispatcher, type Wake } from './dispatcher.ts'
import { createRecorder, recordAttempts } from './record.ts'
import { Shares } from './shares.ts'

/** How many jobs are fetched from the queue at once. */
const WAKES_AT_ONCE = 200

/** Sends webhooks as their jobs become due, until it is stopped. */
export async function startWebhookWorker(
  runtime: Runtime,
  checkpoint: Checkpoint = () => {},
): Promise<{ stop(): Promise<void> }> {
  const { config, queue } = runtime
  const agents = createGuardedAgents(webhookHosts(config), { agent: { timeout: KEPT_MS } })
  const record = createRecorder((made: Attempt[]) => {
    checkpoint('recording')
    return recordAttempts(runtime, made)
  })
  const parts = { ...runtime, agents, limits: POST_LIMITS, random: Math.random, record, checkpoint }
  const dispatcher = new Dispatcher(parts, new Shares())
  await queue.workBatches<Wake>('webhook-attempt', WAKES_AT_ONCE, (wakes) => dispatcher.wake(wakes))
  return {
    async stop() {
      await dispatcher.stop()
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}
