import { z } from 'zod'
import type { Actor } from '../identity/audit/record-audit.ts'
import { createGuardedAgents } from '../platform/net/guarded-agents.ts'
import { takeFromLimit } from '../platform/rate-limits.ts'
import type { Runtime } from '../platform/runtime.ts'
import { PER_WORKSPACE, testLimit } from '../webhooks/log/send-test-event.ts'
import { webhookHosts } from '../webhooks/outputs/save-output.ts'
import { askOnce } from './ask.ts'
import { findHook, type HookRef } from './pipe-hooks.ts'
import { ANSWER_SCHEMAS } from './question-schemas.ts'
import { exampleQuestion } from './questions.ts'

export const hookTestAnswer = z.strictObject({
  answer: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: "The receiver's answer; null if the response was not an answer" }),
  fault: z.string().nullable().meta({ description: 'Why the response was not an answer' }),
  milliseconds: z.int(),
})
export type HookTest = z.output<typeof hookTestAnswer>

/** Asks the receiver once about a file that does not exist, marked as a test. It is asked even if the hook is off. */
export async function testHook(
  runtime: Pick<Runtime, 'db' | 'clock' | 'config' | 'vault' | 'metrics'>,
  actor: Actor,
  ref: HookRef,
): Promise<HookTest> {
  const { db, clock, config } = runtime
  await takeFromLimit({ db, clock }, testLimit(actor), PER_WORKSPACE)
  const { row, destinations } = await findHook(db, actor, ref)
  const { dataStoreId } = destinations[0]!
  const question = exampleQuestion(row.hook, { pipeId: ref.pipeId, dataStoreId }, clock.now())
  const agents = createGuardedAgents(webhookHosts(config), { agent: { keepAlive: false } })
  const startedMs = performance.now()
  const answer = await askOnce<Record<string, unknown>>(
    { ...runtime, agents },
    row,
    question,
    ANSWER_SCHEMAS[row.hook],
  )
  const milliseconds = Math.round(performance.now() - startedMs)
  return typeof answer === 'string'
    ? { answer: null, fault: answer, milliseconds }
    : { answer, fault: null, milliseconds }
}
