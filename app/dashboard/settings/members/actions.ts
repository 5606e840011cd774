'use server'

import { redirect } from 'next/navigation'
import * as invitations from '#lib/identity/workspaces/invitations.ts'
import { changeRole, removeMember, roleField } from '#lib/identity/workspaces/members.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { act } from '../../../actions/act.ts'
import { textArgument, textOf } from '../../../actions/form-fields.ts'
import { unsent } from '../unsent.ts'

export async function inviteMember(_previous: unknown, data: FormData) {
  return act('administer', data, async (runtime, actor, { workspace }) => {
    const given = { email: textOf(data, 'email') ?? '', role: textOf(data, 'role') }
    const input = parseInput(invitations.invitationInput, given)
    await invitations.invite(runtime, actor, input)
    return {
      message: [`Invited ${input.email}.`, unsent(runtime.config, workspace)].filter(Boolean).join(' '),
    }
  })
}

export async function resendInvitation(id: string) {
  return act('administer', async (runtime, actor, { workspace }) => {
    await invitations.resendInvitation(runtime, actor, textArgument(id))
    return {
      message: `${unsent(runtime.config, workspace) ?? 'Sent again.'} The previous link no longer works.`,
    }
  })
}

export async function withdrawInvitation(id: string) {
  return act('administer', async (runtime, actor) => {
    await invitations.withdrawInvitation(runtime, actor, textArgument(id))
    return { message: 'The invitation was withdrawn. Its link no longer works.' }
  })
}

export async function giveRole(userId: string, _previous: unknown, data: FormData) {
  return act('administer', data, async (runtime, actor) => {
    const role = parseInput(roleField, textOf(data, 'role'))
    await changeRole(runtime, actor, textArgument(userId), role)
    return { message: 'The role was changed.' }
  })
}

export async function remove(userId: string) {
  return act('administer', async (runtime, actor) => {
    await removeMember(runtime, actor, textArgument(userId))
    if (userId === actor.id) redirect('/workspaces')
    return { message: 'Removed.' }
  })
}
