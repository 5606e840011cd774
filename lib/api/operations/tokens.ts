import { z } from 'zod'
import { pageAnswer, pageQuery } from '../../platform/db/page.ts'
import { listTokens, revokeToken } from '../../workspace/tokens/given-tokens.ts'
import { issueToken } from '../../workspace/tokens/issue-token.ts'
import { issuedTokenAnswer, tokenAnswer, tokenInput } from '../../workspace/tokens/token.ts'
import { operation, senderOperation } from '../operation.ts'

const tag = 'Tokens'

export const tokenOperations = [
  senderOperation({
    id: 'issueToken',
    method: 'POST',
    path: '/tokens',
    tag,
    summary: 'Exchange a Sender token for a temporary upload token. Call it from a backend.',
    body: tokenInput,
    status: 201,
    answer: issuedTokenAnswer,
    problems: ['pipe_not_found', { code: 'pipe_source_off', status: 409 }, 'rate_limited'],
    run: ({ runtime, who, body }) => issueToken(runtime, who, body),
  }),
  operation({
    id: 'listTokens',
    right: 'see',
    method: 'GET',
    path: '/tokens',
    tag,
    summary: 'List temporary tokens, newest first.',
    query: pageQuery.extend({ pipeId: z.string().optional(), senderId: z.string().optional() }),
    status: 200,
    answer: pageAnswer(tokenAnswer),
    run: ({ runtime, who, query }) => listTokens(runtime, who, query),
  }),
  operation({
    id: 'revokeToken',
    right: 'build',
    method: 'POST',
    path: '/tokens/{id}/revoke',
    tag,
    summary: 'Revoke a temporary token at once, for uploads under way too.',
    status: 200,
    answer: tokenAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => revokeToken(runtime, who, params.id!),
  }),
]
