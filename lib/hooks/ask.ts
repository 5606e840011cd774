import { setTimeout as sleep } from 'node:timers/promises'
import { eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { pipeHooks } from '#drizzle/schema/index.ts'
import { seconds } from '../platform/kernel/clock.ts'
import type { GuardedAgents } from '../platform/net/guarded-agents.ts'
import { NetworkError } from '../platform/net/network-error.ts'
import { post } from '../platform/net/post.ts'
import type { Runtime } from '../platform/runtime.ts'
import { openSecrets } from '../webhooks/outputs/signing-secrets.ts'
import { signWebhook } from '../webhooks/signature/signature.ts'
import { readAnswer } from './answers.ts'
import { type HookRow, hookSecretPlace, previousHookSecretPlace } from './hook.ts'
import type { Question } from './questions.ts'

export type Asking = Pick<Runtime, 'db' | 'clock' | 'vault' | 'metrics' | 'log'> & {
  agents: GuardedAgents
  retryDelaysMs: readonly number[]
}

/** The delays are short, because an uploader is waiting for the answer. */
export const HOOK_RETRIES_MS: readonly number[] = [seconds(1), seconds(3)]

const MOST_BYTES = 16 * 1024
const CONNECT_MS = seconds(5)

/**
 * Asks a hook's receiver, signed like a webhook, until it returns a valid answer or the attempts are used up. Undefined
 * if there is no answer. The receiver may be asked again even if it has already answered: when a node dies, another
 * node asks.
 */
export async function ask<Answer>(
  asking: Asking,
  hook: HookRow,
  question: Question,
  schema: z.ZodType<Answer>,
): Promise<Answer | undefined> {
  let fault: string | undefined
  for (const delayMs of [0, ...asking.retryDelaysMs]) {
    if (delayMs > 0) await sleep(delayMs)
    const answer = await askOnce(asking, hook, question, schema)
    if (typeof answer !== 'string') {
      if (hook.failingSince) await noteHealth(asking, hook, null)
      return answer
    }
    fault = answer
    asking.log.warn(
      { pipeId: hook.pipeId, hook: hook.hook, question: question.id, fault },
      'a decision hook did not respond',
    )
  }
  await noteHealth(asking, hook, fault!)
  return undefined
}

/** Records the hook's health for its page and its alert. Not called for a hook that keeps answering. */
async function noteHealth({ db, clock }: Asking, { id }: HookRow, fault: string | null): Promise<void> {
  const now = new Date(clock.now()).toISOString()
  await db
    .update(pipeHooks)
    .set({
      fault,
      failingSince: fault === null ? null : sql`coalesce(${pipeHooks.failingSince}, ${now}::timestamptz)`,
    })
    .where(eq(pipeHooks.id, id))
}

/** Makes one attempt. Returns the answer, or a string that says why there is none. */
export async function askOnce<Answer>(
  { agents, clock, vault, metrics }: Omit<Asking, 'db' | 'log' | 'retryDelaysMs'>,
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
      if (status < 200 || status > 299) return `The response had status ${status}.`
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
