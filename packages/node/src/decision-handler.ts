import type {
  BeforeCompleteAnswer,
  BeforeCompleteQuestion,
  BeforeCreateAnswer,
  BeforeCreateQuestion,
} from './generated/types.ts'
import { NO_STORE, problem } from './problem.ts'
import { setting } from './settings.ts'
import { verify, WebhookVerificationError } from './webhooks.ts'

type Answers<Answer> = Answer | Promise<Answer>

export type DecisionHandlerOptions = {
  /** Of each hook that asks here, and during a rotation also the previous ones; SLUICE_HOOK_SECRET if left out. */
  secret?: string | string[]
  /** Before an upload begins. A question may come more than once, with the same `id`; `test` is there in tests only. */
  beforeCreate?(
    upload: BeforeCreateQuestion['data'],
    question: BeforeCreateQuestion,
  ): Answers<BeforeCreateAnswer>
  /** Before there is an object, when every byte is durable. */
  beforeComplete?(
    file: BeforeCompleteQuestion['data'],
    question: BeforeCompleteQuestion,
  ): Answers<BeforeCompleteAnswer>
  /** One of them threw, or somebody else than Sluice asked; `console.error` if left out. */
  onError?(error: unknown): void
}

type Question = BeforeCreateQuestion | BeforeCompleteQuestion

/**
 * The address of decision hooks, for anything that takes a `Request` and gives a `Response`. What throws is no answer: Sluice asks
 * again, and then does what the hook says for a missing one.
 */
export function createDecisionHandler(
  options: DecisionHandlerOptions,
): (request: Request) => Promise<Response> {
  const { onError = console.error } = options
  return async (request) => {
    if (request.method !== 'POST') return problem(METHOD, { Allow: 'POST' })
    try {
      const secret = options.secret ?? setting('hookSecret', undefined)
      const question: Question = JSON.parse(
        await verify(await request.arrayBuffer(), request.headers, secret),
      )
      const answer = await decide(options, question)
      return answer ? Response.json(answer, { headers: NO_STORE }) : problem(NOT_ASKED)
    } catch (error) {
      onError(error)
      return problem(error instanceof WebhookVerificationError ? UNSIGNED : INTERNAL)
    }
  }
}

async function decide({ beforeCreate, beforeComplete }: DecisionHandlerOptions, question: Question) {
  if (question.hook === 'before_create') return beforeCreate?.(question.data, question)
  return beforeComplete?.(question.data, question)
}

const METHOD = { status: 405, code: 'method_not_allowed', title: 'Ask by POST' }
const UNSIGNED = { status: 401, code: 'unsigned', title: 'The signature is not valid' }
const NOT_ASKED = { status: 404, code: 'not_found', title: 'This handler does not decide for this hook' }
const INTERNAL = { status: 500, code: 'internal', title: 'The decision failed' }
