'use server'

import { act } from '#app/actions/act.ts'
import { assertConfirmed, bytesOf, listOf, textOf } from '#app/actions/form-fields.ts'
import { type Clock, days } from '#lib/platform/kernel/clock.ts'
import { invalidRequest } from '#lib/platform/kernel/errors.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import {
  changeUploadLink,
  createUploadLink,
  deleteUploadLink,
  hashingPassword,
} from '#lib/upload-links/manage-links.ts'
import { uploadLinkChange, uploadLinkInput } from '#lib/upload-links/upload-link.ts'

export async function createLink(pipeId: string, _previous: unknown, data: FormData) {
  return act<{ url: string }>('build', data, async (runtime, actor) => {
    const expiresAt = expiryOf(data, runtime.clock) ?? null
    const fields = { pipeId, ...fieldsOf(data), password: passwordOf(data), expiresAt }
    const input = await hashingPassword(parseInput(uploadLinkInput, fields))
    const { url } = await createUploadLink(runtime, actor, input)
    return { data: { url } }
  })
}

export async function changeLink(id: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    const [expiresAt, password] = [expiryOf(data, runtime.clock), passwordOf(data)]
    const fields = {
      ...fieldsOf(data),
      ...(expiresAt !== undefined && { expiresAt }),
      ...(password !== null && { password }),
      ...(data.get('withoutPassword') === 'on' && { password: null }),
    }
    const change = await hashingPassword(parseInput(uploadLinkChange, fields))
    await changeUploadLink(runtime, actor, id, change)
    return { message: 'Saved.' }
  })
}

export async function switchLink(id: string, closed: boolean) {
  return act('build', async (runtime, actor) => {
    await changeUploadLink(runtime, actor, id, { closed })
    return {
      message: closed ? 'The link is closed. Uploads in progress continue.' : 'The link is open again.',
    }
  })
}

export async function deleteLink(id: string, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    assertConfirmed(data)
    await deleteUploadLink(runtime, actor, id)
    return { message: 'Deleted.' }
  })
}

function fieldsOf(data: FormData) {
  const maxFiles = textOf(data, 'maxFiles')
  return {
    title: textOf(data, 'title') ?? '',
    message: textOf(data, 'message') ?? '',
    maxFiles: maxFiles === undefined ? null : Number(maxFiles),
    maxBytes: bytesOf(data, 'maxBytes'),
    allowedTypes: listOf(data, 'allowedTypes'),
    // If the server sends no email, the form does not have these fields, and the settings stay as they are.
    ...(data.has('notifyEmail') && {
      notifyEmail: textOf(data, 'notifyEmail') ?? null,
      receipts: data.get('receipts') === 'on',
    }),
  }
}

/** The password exactly as typed, because visitors have to type exactly the same thing. */
function passwordOf(data: FormData): string | null {
  const given = data.get('password')
  return typeof given === 'string' && given !== '' ? given : null
}

const MOST_DAYS = 3650

/** Null means that the link never expires; undefined leaves the expiry unchanged. */
function expiryOf(data: FormData, clock: Clock): string | null | undefined {
  const given = textOf(data, 'expiresIn')
  if (given === undefined) return undefined
  if (given === 'never') return null
  const amount = Number(given)
  if (!(amount > 0 && amount <= MOST_DAYS))
    throw invalidRequest([{ field: 'expiresIn', message: 'must be a number of days' }])
  return new Date(clock.now() + days(amount)).toISOString()
}
