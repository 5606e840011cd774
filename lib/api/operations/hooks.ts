import { z } from 'zod'
import { hookAnswer, hookInput } from '../../hooks/hook.ts'
import { deleteHook, listHooks, rotateHookSecret, saveHook } from '../../hooks/pipe-hooks.ts'
import { hookTestAnswer, testHook } from '../../hooks/test-hook.ts'
import { operation, type Problem } from '../operation.ts'

const tag = 'Decision hooks'
const problems: Problem[] = ['pipe_not_found', 'not_found']
const secret = z.string()

/** Of a Pipe, by their kind: `before_create` or `before_complete`. */
export const hookOperations = [
  operation({
    id: 'listHooks',
    right: 'see',
    method: 'GET',
    path: '/pipes/{id}/hooks',
    tag,
    summary: 'List the decision hooks of a Pipe, in the order in which they are asked.',
    status: 200,
    answer: z.strictObject({ data: z.array(hookAnswer) }),
    problems: ['pipe_not_found'],
    run: async ({ runtime, who, params }) => ({ data: await listHooks(runtime, who, params.id!) }),
  }),
  operation({
    id: 'saveHook',
    right: 'build',
    method: 'PUT',
    path: '/pipes/{id}/hooks/{hook}',
    tag,
    summary:
      'Create a decision hook, `before_create` or `before_complete`, or replace its settings. The secret of a new one is in this answer.',
    body: hookInput,
    status: 200,
    answer: hookAnswer.extend({ secret: secret.optional() }),
    problems,
    run: ({ runtime, who, params, body }) => saveHook(runtime, who, refOf(params), body),
  }),
  operation({
    id: 'deleteHook',
    right: 'build',
    method: 'DELETE',
    path: '/pipes/{id}/hooks/{hook}',
    tag,
    summary: 'Delete a decision hook. Files that it has not been asked about are allowed.',
    status: 204,
    problems,
    run: ({ runtime, who, params }) => deleteHook(runtime, who, refOf(params)),
  }),
  operation({
    id: 'rotateHookSecret',
    right: 'build',
    method: 'POST',
    path: '/pipes/{id}/hooks/{hook}/rotate',
    tag,
    summary: 'Rotate the signing secret of a decision hook. The previous secret keeps signing for 24 hours.',
    status: 200,
    answer: hookAnswer.extend({ secret }),
    problems,
    run: ({ runtime, who, params }) => rotateHookSecret(runtime, who, refOf(params)),
  }),
  operation({
    id: 'testHook',
    right: 'operate',
    method: 'POST',
    path: '/pipes/{id}/hooks/{hook}/test',
    tag,
    summary:
      'Ask the receiver of a decision hook about a file that does not exist, marked as a test. It is asked once, even while the hook is off.',
    status: 200,
    answer: hookTestAnswer,
    problems: [...problems, 'rate_limited'],
    run: ({ runtime, who, params }) => testHook(runtime, who, refOf(params)),
  }),
]

const refOf = ({ id, hook }: Record<string, string>) => ({ pipeId: id!, hook: hook! })
