'use server'

import { act } from '#app/actions/act.ts'
import { passwordOf, textOf } from '#app/actions/form-fields.ts'
import { changePassword, passwordChange } from '#lib/identity/accounts/change-password.ts'
import { profileChanges, updateProfile } from '#lib/identity/accounts/users.ts'
import { requestVerification } from '#lib/identity/accounts/verify-email.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { unsent } from './unsent.ts'

export async function saveProfile(_previous: unknown, data: FormData) {
  return act('see', data, async (runtime, _actor, session) => {
    await updateProfile(runtime, session, parseInput(profileChanges, { name: textOf(data, 'name') ?? '' }))
    return { message: 'Saved.' }
  })
}

export async function savePassword(_previous: unknown, data: FormData) {
  return act('see', data, async (runtime, _actor, session) => {
    const [current, password] = [passwordOf(data, 'current'), passwordOf(data)]
    const given = { current, password, revokeKeys: data.get('revokeKeys') === 'on' }
    await changePassword(runtime, session, parseInput(passwordChange, given))
    return { message: 'Password changed. Every other session was signed out.' }
  })
}

export async function sendVerification() {
  return act('see', async (runtime, _actor, session) => {
    await requestVerification(runtime, session.userId)
    return { message: unsent(runtime.config, session.workspace) ?? 'Sent. Check your inbox.' }
  })
}
