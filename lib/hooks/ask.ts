import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import { seconds } from '../platform/kernel/clock.ts'
import type { GuardedAgents } from '../platform/net/guarded-agents.ts'
import { NetworkError } from '../platform/net/network-error.ts'
import { post } from '../platform/net/post.ts'
import type { Runtime } from '../platform/runtime.ts'
import { openSecrets } from '../webhooks/outputs/signing-secrets.ts'
import { signWebhook } from '../webhooks/signature/signature.ts'
import { readAnswer } from './answers.ts'
import { type HookRow, hookSecretPlace, previousHookSecretPlace } from './hook.ts'

/** A question has the same id and the same bytes in every attempt, also of another node. */
export type Question = { id: string; body: string }

export type Asking = Pick<Runtime, 'clock' | 'vault' | 'metrics' | 'log'> & {
  agents: GuardedAgents
  retryDelaysMs: readonly number[]
}

/** An uploader waits for the answer. */
export const HOOK_RETRIES_MS: readonly number[] = [seconds(1), seconds(3)]

const MOST_BYTES = 16 * 1024
const CONNECT_MS = seconds(5)

/**
 * Asks the receiver of a hook, signed as a webhook is, until it answers as it must or the attempts are used up. Undefined without
 * an answer. Calls are made at least once: a node that dies leaves its question to another one.
 */
export async function ask<Answer>(
  asking: Asking,
  hook: HookRow,
  question: Question,
  schema: z.ZodType<Answer>,
): Promise<Answer | undefined> {
  for (const delayMs of [0, ...asking.retryDelaysMs]) {
    if (delayMs > 0) await sleep(delayMs)
    const answer = await attempt(asking, hook, question, schema)
    if (typeof answer !== 'string') return answer
    asking.log.warn(
      { pipeId: hook.pipeId, hook: hook.hook, question: question.id, fault: answer },
      'a decision hook gave no answer',
    )
  }
  return undefined
}

/** One attempt. A string says why there is no answer. */
async function attempt<Answer>(
  { agents, clock, vault, metrics }: Asking,
  hook: HookRow,
  { id, body }: Question,
  schema: z.ZodType<Answer>,
): Promise<Answer | string> {
  const atMs = clock.now()
  const places = { current: hookSecretPlace, previous: previousHookSecretPlace }
  const bytes = Buffer.from(body)
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(bytes.length),
    'User-Agent': 'Sluice-Webhooks/1.0',
    ...signWebhook(openSecrets(vault, hook, atMs, places), { id, body, atMs }),
  }
  const totalMs = seconds(hook.timeoutSeconds)
  const limits = {
    connectMs: Math.min(CONNECT_MS, totalMs),
    totalMs,
    bodyMs: totalMs,
    bodyBytes: MOST_BYTES,
    headerBytes: MOST_BYTES,
  }
  const observe = metrics.hookSeconds.startTimer({ hook: hook.hook })
  const answer = await post(agents, { url: hook.url, headers, body: bytes }, limits)
    .then(({ status, body: text, cut }) => {
      if (status < 200 || status > 299) return `It answered with status ${status}.`
      return cut ?? readAnswer(schema, text)
    })
    .catch((error: unknown) => {
      if (!(error instanceof NetworkError)) throw error
      return error.message
    })
  observe()
  metrics.hookAttempts.inc({ hook: hook.hook, outcome: typeof answer === 'string' ? 'failed' : 'answered' })
  return answer
}
