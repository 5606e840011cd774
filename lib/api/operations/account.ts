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
import { operationsOf } from '../operation.ts'

const { operation } = operationsOf('Account')

export const accountOperations = [
  operation('GET /usage', {
    id: 'reportUsage',
    right: 'see',
    summary: 'What the workspace transferred in a calendar month (UTC), and its quota.',
    query: usageQuery,
    answer: usageAnswer,
    run: ({ runtime, who, query }) => reportUsage(runtime, who, query),
  }),
  operation('POST /account-keys', {
    id: 'createAccountKey',
    right: 'build',
    summary: 'Create an account key. The key is in this answer and nowhere else.',
    body: accountKeyInput,
    status: 201,
    answer: accountKeyAnswer.extend({ key: z.string() }),
    problems: ['rate_limited'],
    run: ({ runtime, who, body }) => createAccountKey(runtime, who, body),
  }),
  operation('GET /account-keys', {
    id: 'listAccountKeys',
    right: 'see',
    summary: 'List account keys, newest first.',
    query: pageQuery,
    answer: pageAnswer(accountKeyAnswer),
    run: ({ runtime, who, query }) => listAccountKeys(runtime, who, query),
  }),
  operation('DELETE /account-keys/{id}', {
    id: 'revokeAccountKey',
    right: 'build',
    summary: 'Revoke an account key at once and for good.',
    answer: accountKeyAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => revokeAccountKey(runtime, who, params.id!),
  }),
  operation('GET /turned-off', {
    id: 'listTurnedOff',
    right: 'see',
    summary:
      'What was turned off because somebody had been in the account before its owner proved the address.',
    answer: turnedOffList,
    run: async ({ runtime, who }) => ({ data: await listTurnedOff(runtime, who) }),
  }),
  operation('POST /turned-off/{id}/switch-on', {
    id: 'switchOn',
    right: 'administer',
    summary: 'Switch one of them on again, with all that it opens.',
    answer: turnedOffAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => switchOn(runtime, who, params.id!),
  }),
  operation('GET /audit-log', {
    id: 'listAudit',
    right: 'see',
    summary: 'Who changed what and when, newest first, by whatever filters are set.',
    query: auditQuery,
    answer: pageAnswer(auditAnswer),
    run: ({ runtime, who, query }) => listAudit(runtime, who, query),
  }),
]
