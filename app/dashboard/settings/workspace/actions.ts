'use server'

import { redirect } from 'next/navigation'
import * as deletion from '#lib/identity/workspaces/delete-workspace.ts'
import { removeMember } from '#lib/identity/workspaces/members.ts'
import * as workspaces from '#lib/identity/workspaces/workspaces.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { act } from '../../../actions/act.ts'
import { passwordOf, textOf } from '../../../actions/form-fields.ts'

export async function renameWorkspace(_previous: unknown, data: FormData) {
  return act('administer', data, async (runtime, actor) => {
    const input = parseInput(workspaces.workspaceInput, { name: textOf(data, 'name') ?? '' })
    await workspaces.changeWorkspace(runtime, actor, input)
    return { message: 'Saved.' }
  })
}

export async function requireFactor(_previous: unknown, data: FormData) {
  return act('administer', data, async (runtime, _actor, session) => {
    const required = data.get('required') === 'on'
    await workspaces.requireSecondFactor(runtime, session, required)
    return {
      message: required ? 'Everyone now needs a second factor.' : 'A second factor is no longer required.',
    }
  })
}

export async function leaveWorkspace() {
  return act('see', async (runtime, actor) => {
    await removeMember(runtime, actor, actor.id ?? '')
    redirect('/workspaces')
  })
}

export async function deleteWorkspace(_previous: unknown, data: FormData) {
  return act('own', data, async (runtime, _actor, session) => {
    const given = { name: textOf(data, 'name') ?? '', password: passwordOf(data) }
    await deletion.deleteWorkspace(runtime, session, given)
    return { message: 'The workspace will be deleted in seven days.' }
  })
}

export async function restoreWorkspace() {
  return act('own', async (runtime, _actor, session) => {
    await deletion.restoreWorkspace(runtime, session)
    return { message: 'The workspace has been restored.' }
  })
}
