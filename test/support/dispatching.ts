import { emitFileEvent } from '#lib/events/emit-file-event.ts'
import { createGuardedAgents, type GuardedAgentOptions } from '#lib/platform/net/guarded-agents.ts'
import type { PostLimits } from '#lib/platform/net/post.ts'
import { type Checkpoint, KEPT_MS, POST_LIMITS } from '#lib/webhooks/delivery/deliver.ts'
import { Dispatcher, type Wake } from '#lib/webhooks/delivery/dispatcher.ts'
import { createRecorder, recordAttempts } from '#lib/webhooks/delivery/record.ts'
import { Shares } from '#lib/webhooks/delivery/shares.ts'
import { wakeDueOutputs } from '#lib/webhooks/delivery/sweeps.ts'
import type { TestRuntime } from './runtime.ts'
import { addFile } from './webhook-rows.ts'

type Options = {
  limits?: Partial<PostLimits>
  allowed?: string[]
  network?: GuardedAgentOptions
  checkpoint?: Checkpoint
}

/** A slow machine must not look like a slow receiver, so only tests about slow receivers set short timeouts. */
const PATIENCE = { connectMs: 120_000, totalMs: 120_000, bodyMs: 120_000 }

/** The webhook worker without its queue: the test controls its clock and when it runs. */
export function dispatching(runtime: TestRuntime, options: Options = {}) {
  const dispatcher = new Dispatcher(
    {
      ...runtime,
      agents: createGuardedAgents(options.allowed ?? ['*'], {
        agent: { timeout: KEPT_MS },
        ...options.network,
      }),
      limits: { ...POST_LIMITS, ...PATIENCE, ...options.limits },
      random: () => 0.5,
      record: createRecorder((made) => recordAttempts(runtime, made)),
      checkpoint: options.checkpoint ?? (() => {}),
    },
    new Shares(),
  )
  const takeWakes = () =>
    runtime.jobs
      .splice(0)
      .filter(({ queue }) => queue === 'webhook-attempt')
      .map(({ data }) => data as Wake)
  return {
    dispatcher,
    emit: (fileId: string) => runtime.db.transaction((tx) => emitFileEvent(tx, runtime, fileId)),
    /** Adds a transferred file and its event. */
    async event(
      output: { workspaceId: string; pipeId: string },
      fields: Parameters<typeof addFile>[2] = {},
    ): Promise<string> {
      const fileId = await addFile(runtime.db, output, fields)
      await runtime.db.transaction((tx) => emitFileEvent(tx, runtime, fileId))
      return fileId
    },
    /** Processes the queued jobs, and waits until nothing is in progress. */
    async work(): Promise<void> {
      await dispatcher.wake(takeWakes())
      await dispatcher.idle()
    },
    /** Moves the clock, sweeps, and processes jobs. */
    async later(ms: number): Promise<void> {
      runtime.clock.advance(ms)
      runtime.jobs.splice(0)
      await wakeDueOutputs(runtime)
      await dispatcher.wake(takeWakes())
      await dispatcher.idle()
    },
  }
}
