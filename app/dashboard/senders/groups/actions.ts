'use server'

import { act } from '#app/actions/act.ts'
import { assertConfirmed, textOf } from '#app/actions/form-fields.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { rotateSenderInput } from '#lib/workspace/senders/change-sender.ts'
import {
  createSenders,
  manySendersInput,
  moveGroup,
  moveInput,
  revokeGroup,
  rotateGroup,
} from '#lib/workspace/senders/many-senders.ts'
import type { IssuedCredential } from '#lib/workspace/senders/sender.ts'
import {
  changeGroup,
  createGroup,
  deleteGroup,
  groupChanges,
  groupInput,
} from '#lib/workspace/senders/sender-groups.ts'
import { credentialsCsv, limitsOf, namesOf } from './device-forms.ts'

type Made = { csv: string }
const inCsv = (made: IssuedCredential[]) => ({ data: { csv: credentialsCsv(made) } })

export async function createMany(_previous: unknown, data: FormData) {
  return act<Made>('build', data, async (runtime, actor) => {
    const input = { names: namesOf(textOf(data, 'names') ?? ''), groupId: textOf(data, 'groupId') ?? null }
    return inCsv(await createSenders(runtime, actor, parseInput(manySendersInput, input)))
  })
}

export async function create(_previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    await createGroup(runtime, actor, parseInput(groupInput, { name: textOf(data, 'name') }))
    return { message: 'The group was created.' }
  })
}

export async function change(id: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    const changes = { name: textOf(data, 'name'), ...limitsOf(data) }
    await changeGroup(runtime, actor, id, parseInput(groupChanges, changes))
    return { message: 'Saved. It applies from the next request, also to open sessions.' }
  })
}

export async function rotate(id: string, _previous: unknown, data: FormData) {
  return act<Made>('build', data, async (runtime, actor) => {
    const input = parseInput(rotateSenderInput, { overlapDays: Number(textOf(data, 'overlapDays')) })
    return inCsv(await rotateGroup(runtime, actor, id, input))
  })
}

export async function move(id: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    const input = parseInput(moveInput, { groupId: textOf(data, 'groupId') ?? null })
    const moved = await moveGroup(runtime, actor, id, input)
    return { message: `Moved ${moved} Senders.` }
  })
}

export async function revoke(id: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    assertConfirmed(data)
    const revoked = await revokeGroup(runtime, actor, id)
    return { message: `Revoked ${revoked} Senders, along with every token they issued.` }
  })
}

export async function remove(id: string) {
  return act('build', async (runtime, actor) => {
    await deleteGroup(runtime, actor, id)
    return { message: 'The group was deleted.' }
  })
}
