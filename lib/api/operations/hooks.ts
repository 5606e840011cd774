import { z } from 'zod'
import { hookAnswer, hookInput } from '../../hooks/hook.ts'
import { deleteHook, listHooks, rotateHookSecret, saveHook } from '../../hooks/pipe-hooks.ts'
import { hookTestAnswer, testHook } from '../../hooks/test-hook.ts'
import { operationsOf, type Problem } from '../operation.ts'

const { operation } = operationsOf('Decision hooks')
const problems: Problem[] = ['pipe_not_found', 'not_found']
const secret = z.string()

/** A Pipe's hooks, by kind: `before_create` or `before_complete`. */
export const hookOperations = [
  operation('GET /pipes/{id}/hooks', {
    id: 'listHooks',
    right: 'see',
    summary: "List a Pipe's decision hooks, in the order in which they are asked.",
    answer: z.strictObject({ data: z.array(hookAnswer) }),
    problems: ['pipe_not_found'],
    run: async ({ runtime, who, params }) => ({ data: await listHooks(runtime, who, params.id!) }),
  }),
  operation('PUT /pipes/{id}/hooks/{hook}', {
    id: 'saveHook',
    right: 'build',
    summary:
      'Create a decision hook, `before_create` or `before_complete`, or replace its settings. The response contains the secret of a new hook.',
    body: hookInput,
    answer: hookAnswer.extend({ secret: secret.optional() }),
    problems,
    run: ({ runtime, who, params, body }) => saveHook(runtime, who, refOf(params), body),
  }),
  operation('DELETE /pipes/{id}/hooks/{hook}', {
    id: 'deleteHook',
    right: 'build',
    summary:
      'Delete a decision hook. Files waiting for its answer are allowed. Deferred files still wait for a decision.',
    status: 204,
    problems,
    run: ({ runtime, who, params }) => deleteHook(runtime, who, refOf(params)),
  }),
  operation('POST /pipes/{id}/hooks/{hook}/rotate', {
    id: 'rotateHookSecret',
    right: 'build',
    summary:
      "Rotate a decision hook's signing secret. For 24 hours, requests are also signed with the previous one.",
    answer: hookAnswer.extend({ secret }),
    problems,
    run: ({ runtime, who, params }) => rotateHookSecret(runtime, who, refOf(params)),
  }),
  operation('POST /pipes/{id}/hooks/{hook}/test', {
    id: 'testHook',
    right: 'operate',
    summary:
      "Send a decision hook's receiver a question about a file that does not exist, marked as a test. It is sent once, even while the hook is off.",
    network: true,
    answer: hookTestAnswer,
    problems: [...problems, 'rate_limited'],
    run: ({ runtime, who, params }) => testHook(runtime, who, refOf(params)),
  }),
]

const refOf = ({ id, hook }: Record<string, string>) => ({ pipeId: id!, hook: hook! })
