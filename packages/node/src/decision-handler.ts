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
  /**
   * The secret of each hook that uses this address, and the previous ones during a rotation; defaults to
   * SLUICE_HOOK_SECRET.
   */
  secret?: string | string[]
  /**
   * Called before an upload starts. A request may arrive more than once, with the same `id`; `test` is only present
   * in tests.
   */
  beforeCreate?(
    upload: BeforeCreateQuestion['data'],
    question: BeforeCreateQuestion,
  ): Answers<BeforeCreateAnswer>
  /** Called before the object is created, when every byte is durable. */
  beforeComplete?(
    file: BeforeCompleteQuestion['data'],
    question: BeforeCompleteQuestion,
  ): Answers<BeforeCompleteAnswer>
  /** Called if a function threw, or the request was not from Sluice; defaults to `console.error`. */
  onError?(error: unknown): void
}

type Question = BeforeCreateQuestion | BeforeCompleteQuestion

/**
 * The endpoint for decision hooks, for any framework whose handlers accept a `Request` and return a `Response`. If your
 * function throws, there is no answer: Sluice asks again, and then applies the hook's setting for a missing answer.
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

const METHOD = { status: 405, code: 'method_not_allowed', title: 'Request a decision with POST' }
const UNSIGNED = { status: 401, code: 'unsigned', title: 'The signature is not valid' }
const NOT_ASKED = { status: 404, code: 'not_found', title: 'This address does not handle this hook' }
const INTERNAL = { status: 500, code: 'internal', title: 'The decision failed' }
