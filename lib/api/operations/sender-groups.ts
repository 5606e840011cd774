import { z } from 'zod'
import { rotateSenderInput } from '../../workspace/senders/change-sender.ts'
import {
  createSenders,
  manySendersInput,
  moveGroup,
  moveInput,
  revokeGroup,
  rotateGroup,
} from '../../workspace/senders/many-senders.ts'
import { credentialAnswer } from '../../workspace/senders/sender.ts'
import {
  changeGroup,
  createGroup,
  deleteGroup,
  groupAnswer,
  groupChanges,
  groupInput,
  listGroups,
  showGroup,
} from '../../workspace/senders/sender-groups.ts'
import { operationsOf } from '../operation.ts'

const { operation } = operationsOf('Groups of Senders')
const credentials = z.strictObject({ data: z.array(credentialAnswer) })
const count = z.strictObject({ senders: z.int() })

export const senderGroupOperations = [
  operation('POST /senders/many', {
    id: 'createSenders',
    right: 'build',
    summary:
      'Create up to 1,000 Senders at once, in a group if you name one. Only this response contains their tokens.',
    body: manySendersInput,
    status: 201,
    answer: credentials,
    problems: ['not_found', 'conflict', 'rate_limited'],
    run: async ({ runtime, who, body }) => ({ data: await createSenders(runtime, who, body) }),
  }),
  operation('POST /sender-groups', {
    id: 'createSenderGroup',
    right: 'build',
    summary: 'Create a group of Senders, with the limits of those that have none of their own.',
    body: groupInput,
    status: 201,
    answer: groupAnswer,
    problems: ['conflict'],
    run: ({ runtime, who, body }) => createGroup(runtime, who, body),
  }),
  operation('GET /sender-groups', {
    id: 'listSenderGroups',
    right: 'see',
    summary: 'List the groups of Senders with their figures, in order of their names.',
    answer: z.strictObject({ data: z.array(groupAnswer) }),
    run: async ({ runtime, who }) => ({ data: await listGroups(runtime, who) }),
  }),
  operation('GET /sender-groups/{id}', {
    id: 'showSenderGroup',
    right: 'see',
    summary: 'Show a group of Senders with its figures.',
    answer: groupAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => showGroup(runtime, who, params.id!),
  }),
  operation('PATCH /sender-groups/{id}', {
    id: 'changeSenderGroup',
    right: 'build',
    summary:
      "Change a group's name or limits. Changed limits apply from the next request, also to open sessions.",
    body: groupChanges,
    answer: groupAnswer,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params, body }) => changeGroup(runtime, who, params.id!, body),
  }),
  operation('DELETE /sender-groups/{id}', {
    id: 'deleteSenderGroup',
    right: 'build',
    summary: 'Delete a group that has no Senders other than revoked ones.',
    status: 204,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params }) => deleteGroup(runtime, who, params.id!),
  }),
  operation('POST /sender-groups/{id}/rotate', {
    id: 'rotateSenderGroup',
    right: 'build',
    summary:
      'Rotate the tokens of all Senders in a group. The previous tokens keep working until the overlap ends.',
    body: rotateSenderInput,
    answer: credentials,
    problems: ['not_found'],
    run: async ({ runtime, who, params, body }) => ({
      data: await rotateGroup(runtime, who, params.id!, body),
    }),
  }),
  operation('POST /sender-groups/{id}/revoke', {
    id: 'revokeSenderGroup',
    right: 'build',
    summary: 'Revoke all Senders in a group immediately and permanently, along with every token they issued.',
    answer: count,
    problems: ['not_found'],
    run: async ({ runtime, who, params }) => ({ senders: await revokeGroup(runtime, who, params.id!) }),
  }),
  operation('POST /sender-groups/{id}/move', {
    id: 'moveSenderGroup',
    right: 'build',
    summary: 'Move all Senders in a group to another group, or out of it.',
    body: moveInput,
    answer: count,
    problems: ['not_found', 'conflict'],
    run: async ({ runtime, who, params, body }) => ({
      senders: await moveGroup(runtime, who, params.id!, body),
    }),
  }),
]
