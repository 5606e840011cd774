import { z } from 'zod'
import { pageAnswer } from '../../platform/db/page.ts'
import {
  addSenderKey,
  listSenderKeys,
  removeSenderKey,
  senderKeyAnswer,
  senderKeyInput,
} from '../../sftp/sender-keys.ts'
import {
  limitSender,
  renameSender,
  revokeSender,
  rotateSender,
  rotateSenderInput,
  senderLimitsInput,
} from '../../workspace/senders/change-sender.ts'
import { createSender } from '../../workspace/senders/create-sender.ts'
import { listSenders, sendersQuery, showSender } from '../../workspace/senders/read-senders.ts'
import { senderAnswer, senderInput } from '../../workspace/senders/sender.ts'
import { operationsOf } from '../operation.ts'

const { operation } = operationsOf('Senders')
const withToken = senderAnswer.extend({ token: z.string() })

export const senderOperations = [
  operation('POST /senders', {
    id: 'createSender',
    right: 'build',
    summary: 'Create a Sender. Only this response contains its token.',
    body: senderInput,
    status: 201,
    answer: withToken,
    problems: ['rate_limited'],
    run: ({ runtime, who, body }) => createSender(runtime, who, body),
  }),
  operation('GET /senders', {
    id: 'listSenders',
    right: 'see',
    summary: 'List Senders, newest first.',
    query: sendersQuery,
    answer: pageAnswer(senderAnswer),
    run: ({ runtime, who, query }) => listSenders(runtime, who, query),
  }),
  operation('GET /senders/{id}', {
    id: 'showSender',
    right: 'see',
    summary: 'Show a Sender.',
    answer: senderAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => showSender(runtime, who, params.id!),
  }),
  operation('PATCH /senders/{id}', {
    id: 'renameSender',
    right: 'build',
    summary: 'Rename a Sender. Existing files keep the old name.',
    body: senderInput,
    answer: senderAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params, body }) => renameSender(runtime, who, params.id!, body),
  }),
  operation('PATCH /senders/{id}/limits', {
    id: 'limitSender',
    right: 'build',
    summary:
      'Change what a Sender may use, or its group. Its own limits replace those of its group, and null removes them. This applies from the next request, also to open sessions.',
    body: senderLimitsInput,
    answer: senderAnswer,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params, body }) => limitSender(runtime, who, params.id!, body),
  }),
  operation('POST /senders/{id}/rotate', {
    id: 'rotateSender',
    right: 'build',
    summary: "Rotate a Sender's token. The previous token keeps working until the overlap ends.",
    body: rotateSenderInput,
    answer: withToken,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params, body }) => rotateSender(runtime, who, params.id!, body),
  }),
  operation('DELETE /senders/{id}', {
    id: 'revokeSender',
    right: 'build',
    summary: 'Revoke a Sender immediately and permanently, along with every token it issued.',
    answer: senderAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => revokeSender(runtime, who, params.id!),
  }),
  operation('POST /senders/{id}/keys', {
    id: 'addSenderKey',
    right: 'build',
    summary: 'Add a public key that can upload by SFTP on behalf of a Sender.',
    body: senderKeyInput,
    status: 201,
    answer: senderKeyAnswer,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params, body }) => addSenderKey(runtime, who, params.id!, body),
  }),
  operation('GET /senders/{id}/keys', {
    id: 'listSenderKeys',
    right: 'see',
    summary: "List a Sender's public keys, oldest first.",
    answer: z.strictObject({ data: z.array(senderKeyAnswer) }),
    problems: ['not_found'],
    run: async ({ runtime, who, params }) => ({ data: await listSenderKeys(runtime, who, params.id!) }),
  }),
  operation('DELETE /senders/{id}/keys/{keyId}', {
    id: 'removeSenderKey',
    right: 'build',
    summary: "Remove a Sender's public key. Open SFTP sessions that use it end at their next request.",
    answer: senderKeyAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => removeSenderKey(runtime, who, params.id!, params.keyId!),
  }),
]
