import { z } from 'zod'
import {
  accountKeyAnswer,
  accountKeyInput,
  createAccountKey,
  listAccountKeys,
  revokeAccountKey,
} from '../../identity/accounts/account-keys.ts'
import { auditAnswer, listAudit } from '../../identity/audit/list-audit.ts'
import { pageAnswer, pageQuery } from '../../platform/db/page.ts'
import { reportUsage, usageAnswer, usageQuery } from '../../workspace/usage/report-usage.ts'
import { operation } from '../operation.ts'

const tag = 'Account'

export const accountOperations = [
  operation({
    id: 'reportUsage',
    right: 'see',
    method: 'GET',
    path: '/usage',
    tag,
    summary: 'What the workspace transferred in a calendar month (UTC), and its quota.',
    query: usageQuery,
    status: 200,
    answer: usageAnswer,
    run: ({ runtime, who, query }) => reportUsage(runtime, who, query),
  }),
  operation({
    id: 'createAccountKey',
    right: 'build',
    method: 'POST',
    path: '/account-keys',
    tag,
    summary: 'Create an account key. The key is in this answer and nowhere else.',
    body: accountKeyInput,
    status: 201,
    answer: accountKeyAnswer.extend({ key: z.string() }),
    problems: ['rate_limited'],
    run: ({ runtime, who, body }) => createAccountKey(runtime, who, body),
  }),
  operation({
    id: 'listAccountKeys',
    right: 'see',
    method: 'GET',
    path: '/account-keys',
    tag,
    summary: 'List account keys, newest first.',
    query: pageQuery,
    status: 200,
    answer: pageAnswer(accountKeyAnswer),
    run: ({ runtime, who, query }) => listAccountKeys(runtime, who, query),
  }),
  operation({
    id: 'revokeAccountKey',
    right: 'build',
    method: 'DELETE',
    path: '/account-keys/{id}',
    tag,
    summary: 'Revoke an account key at once and for good.',
    status: 200,
    answer: accountKeyAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => revokeAccountKey(runtime, who, params.id!),
  }),
  operation({
    id: 'listAudit',
    right: 'see',
    method: 'GET',
    path: '/audit-log',
    tag,
    summary: 'Who changed what and when, newest first.',
    query: pageQuery,
    status: 200,
    answer: pageAnswer(auditAnswer),
    run: ({ runtime, who, query }) => listAudit(runtime, who, query),
  }),
]
