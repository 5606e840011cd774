import { z } from 'zod'
import { pageAnswer, pageQuery } from '../../platform/db/page.ts'
import {
  renameSender,
  revokeSender,
  rotateSender,
  rotateSenderInput,
} from '../../workspace/senders/change-sender.ts'
import { createSender } from '../../workspace/senders/create-sender.ts'
import { listSenders, showSender } from '../../workspace/senders/read-senders.ts'
import { senderAnswer, senderInput } from '../../workspace/senders/sender.ts'
import { operation } from '../operation.ts'

const tag = 'Senders'
const withToken = senderAnswer.extend({ token: z.string() })

export const senderOperations = [
  operation({
    id: 'createSender',
    right: 'build',
    method: 'POST',
    path: '/senders',
    tag,
    summary: 'Create a Sender. Its token is in this answer and nowhere else.',
    body: senderInput,
    status: 201,
    answer: withToken,
    problems: ['rate_limited'],
    run: ({ runtime, who, body }) => createSender(runtime, who, body),
  }),
  operation({
    id: 'listSenders',
    right: 'see',
    method: 'GET',
    path: '/senders',
    tag,
    summary: 'List Senders, newest first.',
    query: pageQuery,
    status: 200,
    answer: pageAnswer(senderAnswer),
    run: ({ runtime, who, query }) => listSenders(runtime, who, query),
  }),
  operation({
    id: 'showSender',
    right: 'see',
    method: 'GET',
    path: '/senders/{id}',
    tag,
    summary: 'Show a Sender.',
    status: 200,
    answer: senderAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => showSender(runtime, who, params.id!),
  }),
  operation({
    id: 'renameSender',
    right: 'build',
    method: 'PATCH',
    path: '/senders/{id}',
    tag,
    summary: 'Rename a Sender. Files keep the name that they began with.',
    body: senderInput,
    status: 200,
    answer: senderAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params, body }) => renameSender(runtime, who, params.id!, body),
  }),
  operation({
    id: 'rotateSender',
    right: 'build',
    method: 'POST',
    path: '/senders/{id}/rotate',
    tag,
    summary: 'Rotate the token of a Sender. The previous token keeps working until the overlap ends.',
    body: rotateSenderInput,
    status: 200,
    answer: withToken,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params, body }) => rotateSender(runtime, who, params.id!, body),
  }),
  operation({
    id: 'revokeSender',
    right: 'build',
    method: 'DELETE',
    path: '/senders/{id}',
    tag,
    summary: 'Revoke a Sender at once and for good, with every token that it issued.',
    status: 200,
    answer: senderAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => revokeSender(runtime, who, params.id!),
  }),
]
