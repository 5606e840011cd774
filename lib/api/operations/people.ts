import {
  invitationAnswer,
  invitationInput,
  invite,
  listInvitations,
  resendInvitation,
  withdrawInvitation,
} from '../../identity/workspaces/invitations.ts'
import {
  changeRole,
  listMembers,
  memberAnswer,
  removeMember,
  roleChange,
} from '../../identity/workspaces/members.ts'
import { pageAnswer, pageQuery } from '../../platform/db/page.ts'
import { operationsOf } from '../operation.ts'

const { operation } = operationsOf('People')

/** A key never has owner rights, so owners can only be invited, changed and removed in the dashboard. */
export const peopleOperations = [
  operation('GET /members', {
    id: 'listMembers',
    right: 'see',
    summary: "List the workspace's members with their roles.",
    query: pageQuery,
    answer: pageAnswer(memberAnswer),
    run: ({ runtime, who, query }) => listMembers(runtime, who, query),
  }),
  operation('PATCH /members/{id}', {
    id: 'changeRole',
    right: 'administer',
    summary:
      'Change the role of a member, identified by their user id. The new role applies from their next request.',
    body: roleChange,
    answer: memberAnswer,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params, body }) => changeRole(runtime, who, params.id!, body.role),
  }),
  operation('DELETE /members/{id}', {
    id: 'removeMember',
    right: 'administer',
    summary: 'Remove a member, and revoke the account keys that they created in this workspace.',
    status: 204,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params }) => removeMember(runtime, who, params.id!),
  }),
  operation('POST /invitations', {
    id: 'invite',
    right: 'administer',
    summary:
      'Invite someone by email. The link can be used once, within seven days, and only with that address.',
    body: invitationInput,
    status: 201,
    answer: invitationAnswer,
    problems: ['rate_limited'],
    run: ({ runtime, who, body }) => invite(runtime, who, body),
  }),
  operation('GET /invitations', {
    id: 'listInvitations',
    right: 'see',
    summary: 'List invitations that have not been accepted, including expired ones.',
    query: pageQuery,
    answer: pageAnswer(invitationAnswer),
    run: ({ runtime, who, query }) => listInvitations(runtime, who, query),
  }),
  operation('POST /invitations/{id}/resend', {
    id: 'resendInvitation',
    right: 'administer',
    summary: 'Send an invitation again with a new link; the previous link stops working.',
    answer: invitationAnswer,
    problems: ['not_found', 'rate_limited'],
    run: ({ runtime, who, params }) => resendInvitation(runtime, who, params.id!),
  }),
  operation('DELETE /invitations/{id}', {
    id: 'withdrawInvitation',
    right: 'administer',
    summary: 'Withdraw an invitation. Its link stops working immediately.',
    status: 204,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => withdrawInvitation(runtime, who, params.id!),
  }),
]
