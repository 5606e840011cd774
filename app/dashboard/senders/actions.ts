'use server'

import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { addSenderKey, removeSenderKey, senderKeyInput } from '#lib/sftp/sender-keys.ts'
import {
  limitSender,
  renameSender,
  revokeSender,
  rotateSender,
  rotateSenderInput,
  senderLimitsInput,
} from '#lib/workspace/senders/change-sender.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { senderInput } from '#lib/workspace/senders/sender.ts'
import { revokeToken } from '#lib/workspace/tokens/given-tokens.ts'
import { act } from '../../actions/act.ts'
import { assertConfirmed, textOf } from '../../actions/form-fields.ts'
import { limitsOf } from './groups/device-forms.ts'

type Shown = { id: string; token: string }

const nameOf = (data: FormData) => parseInput(senderInput, { name: textOf(data, 'name') })

export async function create(_previous: unknown, data: FormData) {
  return act<Shown>('build', data, async (runtime, actor) => {
    const { id, token } = await createSender(runtime, actor, nameOf(data))
    return { data: { id, token } }
  })
}

export async function change(id: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    const limits = { ...limitsOf(data), groupId: textOf(data, 'groupId') ?? null }
    const input = parseInput(senderLimitsInput, limits)
    await renameSender(runtime, actor, id, nameOf(data))
    await limitSender(runtime, actor, id, input)
    return { message: 'Saved. Limits apply from the next request; existing files keep the old name.' }
  })
}

export async function rotate(id: string, _previous: unknown, data: FormData) {
  return act<Shown>('build', data, async (runtime, actor) => {
    const input = parseInput(rotateSenderInput, { overlapDays: Number(textOf(data, 'overlapDays')) })
    const { token } = await rotateSender(runtime, actor, id, input)
    return { data: { id, token } }
  })
}

export async function revoke(id: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    assertConfirmed(data)
    await revokeSender(runtime, actor, id)
    return { message: 'Revoked, along with every token it issued.' }
  })
}

export async function revokeIssued(tokenId: string) {
  return act('build', async (runtime, actor) => {
    await revokeToken(runtime, actor, tokenId)
    return { message: 'The token was revoked.' }
  })
}

export async function addKey(senderId: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    const subject = textOf(data, 'subject')
    const fields = { name: textOf(data, 'name'), publicKey: textOf(data, 'publicKey') ?? '' }
    const input = parseInput(senderKeyInput, { ...fields, ...(subject && { subject }) })
    await addSenderKey(runtime, actor, senderId, input)
    return { message: 'The key was added.' }
  })
}

export async function removeKey(senderId: string, keyId: string) {
  return act('build', async (runtime, actor) => {
    await removeSenderKey(runtime, actor, senderId, keyId)
    return { message: 'The key was removed.' }
  })
}
