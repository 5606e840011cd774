import { z } from 'zod'
import { pageAnswer, pageQuery } from '../../platform/db/page.ts'
import { listTokens, revokeToken } from '../../workspace/tokens/given-tokens.ts'
import { issueToken } from '../../workspace/tokens/issue-token.ts'
import { issuedTokenAnswer, tokenAnswer, tokenInput } from '../../workspace/tokens/token.ts'
import { operationsOf } from '../operation.ts'

const { operation, senderOperation } = operationsOf('Tokens')

export const tokenOperations = [
  senderOperation('POST /tokens', {
    id: 'issueToken',
    summary: 'Exchange a Sender token for a temporary upload token. Call this from your backend.',
    body: tokenInput,
    checksToken: true,
    status: 201,
    answer: issuedTokenAnswer,
    problems: ['pipe_not_found', { code: 'pipe_source_off', status: 409 }, 'forbidden', 'rate_limited'],
    run: ({ runtime, who, body }) => issueToken(runtime, who, body),
  }),
  operation('GET /tokens', {
    id: 'listTokens',
    right: 'see',
    summary: 'List temporary tokens, newest first.',
    query: pageQuery.extend({ pipeId: z.string().optional(), senderId: z.string().optional() }),
    answer: pageAnswer(tokenAnswer),
    run: ({ runtime, who, query }) => listTokens(runtime, who, query),
  }),
  operation('POST /tokens/{id}/revoke', {
    id: 'revokeToken',
    right: 'build',
    summary: 'Revoke a temporary token immediately, even for uploads in progress.',
    answer: tokenAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => revokeToken(runtime, who, params.id!),
  }),
]
