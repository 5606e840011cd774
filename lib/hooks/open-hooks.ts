import { and, eq } from 'drizzle-orm'
import { type Hook, pipeHooks } from '#drizzle/schema/index.ts'
import type { Db } from '../platform/db/database.ts'
import { notNow, SluiceError } from '../platform/kernel/errors.ts'
import { createGuardedAgents } from '../platform/net/guarded-agents.ts'
import type { Runtime } from '../platform/runtime.ts'
import type { Verdict } from '../uploads/rules/decision.ts'
import type { Hooks } from '../uploads/upload-context.ts'
import { KEPT_MS } from '../webhooks/delivery/deliver.ts'
import { webhookHosts } from '../webhooks/outputs/save-output.ts'
import { type BeforeCompleteAnswer, beforeCompleteAnswer, beforeCreateAnswer } from './answers.ts'
import { type Asking, ask, HOOK_RETRIES_MS } from './ask.ts'
import type { HookRow } from './hook.ts'
import { questionAfter, questionBefore, readFile } from './questions.ts'
import { NO_ANSWER } from './rejection.ts'

type HooksRuntime = Pick<Runtime, 'db' | 'clock' | 'vault' | 'metrics' | 'log' | 'config'>

/**
 * Decision hooks as uploads use them: each call returns the answer of the customer's backend, or the hook's setting for
 * a missing answer.
 */
export function openHooks(
  { db, config, ...runtime }: HooksRuntime,
  { retryDelaysMs = HOOK_RETRIES_MS }: { retryDelaysMs?: readonly number[] } = {},
): Hooks {
  const agents = createGuardedAgents(webhookHosts(config), { agent: { timeout: KEPT_MS } })
  const asking: Asking = { ...runtime, db, agents, retryDelaysMs }
  return {
    async beforeCreate(asked) {
      const hook = await findEnabled(db, asked.pipe.id, 'before_create')
      if (!hook) return {}
      const answer = await ask(asking, hook, questionBefore(asked), beforeCreateAnswer)
      const count = (decision: Verdict['state']) => countDecision(runtime, hook, decision)
      if (!answer) {
        count(hook.withoutAnswer === 'allow' ? 'allowed' : 'rejected')
        return withoutAnswer(hook)
      }
      const { allow, reason, status, ...named } = answer
      count(allow ? 'allowed' : 'rejected')
      if (!allow) throw refused(reason, status)
      return named
    },
    async beforeComplete(fileId) {
      const file = await readFile(db, fileId)
      const hook = file && (await findEnabled(db, file.pipeId, 'before_complete'))
      // The hook was removed after the upload started.
      if (!hook) return { state: 'allowed', by: 'default', result: undefined }
      const verdict = verdictOf(hook, await ask(asking, hook, questionAfter(file), beforeCompleteAnswer))
      countDecision(runtime, hook, verdict.state)
      return verdict
    },
  }
}

function countDecision(
  { metrics }: Pick<Runtime, 'metrics'>,
  { hook }: HookRow,
  decision: Verdict['state'],
): void {
  metrics.hookDecisions.inc({ hook, decision })
}

async function findEnabled(db: Db, pipeId: string, hook: Hook): Promise<HookRow | undefined> {
  const [row] = await db
    .select()
    .from(pipeHooks)
    .where(and(eq(pipeHooks.pipeId, pipeId), eq(pipeHooks.hook, hook), eq(pipeHooks.enabled, true)))
  return row
}

/** The client may try again, because nothing was stored. */
function withoutAnswer({ withoutAnswer }: HookRow): Record<string, never> {
  if (withoutAnswer === 'allow') return {}
  throw notNow('The server that decides on uploads to this Pipe is not responding. Try again.')
}

function refused(reason = 'Uploads like this are not allowed here.', status = 403): SluiceError {
  return new SluiceError('upload_rejected', reason, { status })
}

function verdictOf(hook: HookRow, answer: BeforeCompleteAnswer | undefined): Verdict {
  if (!answer && hook.withoutAnswer === 'allow') return { state: 'allowed', by: 'default', result: undefined }
  if (!answer) return { state: 'rejected', by: 'default', reason: NO_ANSWER }
  if ('defer' in answer) return { state: 'deferred', by: 'receiver' }
  const { allow, reason = 'The file was rejected.', result } = answer
  return allow ? { state: 'allowed', by: 'receiver', result } : { state: 'rejected', by: 'receiver', reason }
}
