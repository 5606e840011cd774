import { z } from 'zod'
import {
  accountKeyAnswer,
  accountKeyInput,
  createAccountKey,
  listAccountKeys,
  revokeAccountKey,
} from '../../identity/accounts/account-keys.ts'
import {
  listTurnedOff,
  switchOn,
  turnedOffAnswer,
  turnedOffList,
} from '../../identity/accounts/turned-off.ts'
import { auditAnswer, auditQuery, listAudit } from '../../identity/audit/list-audit.ts'
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
    id: 'listTurnedOff',
    method: 'GET',
    path: '/turned-off',
    right: 'see',
    tag,
    summary:
      'What was turned off because somebody had been in the account before its owner proved the address.',
    status: 200,
    answer: turnedOffList,
    run: async ({ runtime, who }) => ({ data: await listTurnedOff(runtime, who) }),
  }),
  operation({
    id: 'switchOn',
    method: 'POST',
    path: '/turned-off/{id}/switch-on',
    right: 'administer',
    tag,
    summary: 'Switch one of them on again, with all that it opens.',
    status: 200,
    answer: turnedOffAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => switchOn(runtime, who, params.id!),
  }),
  operation({
    id: 'listAudit',
    right: 'see',
    method: 'GET',
    path: '/audit-log',
    tag,
    summary: 'Who changed what and when, newest first, by whatever filters are set.',
    query: auditQuery,
    status: 200,
    answer: pageAnswer(auditAnswer),
    run: ({ runtime, who, query }) => listAudit(runtime, who, query),
  }),
]
