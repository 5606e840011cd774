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
    summary: "The workspace's transfer in a calendar month (UTC), and its quota.",
    query: usageQuery,
    answer: usageAnswer,
    run: ({ runtime, who, query }) => reportUsage(runtime, who, query),
  }),
  operation('POST /account-keys', {
    id: 'createAccountKey',
    right: 'build',
    summary: 'Create an account key. Only this response contains the key.',
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
    summary: 'Revoke an account key immediately and permanently.',
    answer: accountKeyAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => revokeAccountKey(runtime, who, params.id!),
  }),
  operation('GET /turned-off', {
    id: 'listTurnedOff',
    right: 'see',
    summary:
      'List the items that were turned off because someone used the account before its owner verified the address.',
    answer: turnedOffList,
    run: async ({ runtime, who }) => ({ data: await listTurnedOff(runtime, who) }),
  }),
  operation('POST /turned-off/{id}/switch-on', {
    id: 'switchOn',
    right: 'administer',
    summary: 'Switch a turned-off item on again, along with all the access it grants.',
    answer: turnedOffAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => switchOn(runtime, who, params.id!),
  }),
  operation('GET /audit-log', {
    id: 'listAudit',
    right: 'see',
    summary: 'List who changed what and when, newest first, with optional filters.',
    query: auditQuery,
    answer: pageAnswer(auditAnswer),
    run: ({ runtime, who, query }) => listAudit(runtime, who, query),
  }),
]
