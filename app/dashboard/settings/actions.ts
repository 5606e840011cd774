'use server'

import { redirect } from 'next/navigation'
import { accountKeyInput, createAccountKey, revokeAccountKey } from '#lib/identity/accounts/account-keys.ts'
import { assertOwner } from '#lib/identity/accounts/assert-owner.ts'
import { changePassword, passwordChange } from '#lib/identity/accounts/change-password.ts'
import { accountDeletion, deleteAccount } from '#lib/identity/accounts/delete-account.ts'
import { switchOn } from '#lib/identity/accounts/turned-off.ts'
import { profileChanges, updateProfile } from '#lib/identity/accounts/users.ts'
import { requestVerification } from '#lib/identity/accounts/verify-email.ts'
import { revokeSession, signOutEverywhere } from '#lib/identity/sessions/sessions.ts'
import { days } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { cancelUploadsOfPipe } from '#lib/uploads/endings/end-upload.ts'
import { act } from '../../actions/act.ts'
import { textOf } from '../../actions/form-fields.ts'

export async function saveProfile(_previous: unknown, data: FormData) {
  return act('see', async (runtime, _actor, session) => {
    await updateProfile(runtime, session, parseInput(profileChanges, { name: textOf(data, 'name') ?? '' }))
    return { message: 'Saved.' }
  })
}

export async function savePassword(_previous: unknown, data: FormData) {
  return act('see', async (runtime, _actor, session) => {
    const given = {
      current: String(data.get('current') ?? ''),
      password: String(data.get('password') ?? ''),
      revokeKeys: data.get('revokeKeys') === 'on',
    }
    await changePassword(runtime, session, parseInput(passwordChange, given))
    return { message: 'Password changed. Every other session was signed out.' }
  })
}

export async function sendVerification() {
  return act('see', async (runtime, _actor, session) => {
    await requestVerification(runtime, session.userId)
    return { message: 'Sent. Check your inbox.' }
  })
}

export async function endSession(id: string) {
  return act('see', async (runtime, _actor, session) => {
    await revokeSession(runtime, session, id)
    if (id === session.id) redirect('/login')
    return { message: 'That session was signed out.' }
  })
}

export async function endOtherSessions() {
  return act('see', async (runtime, _actor, session) => {
    await signOutEverywhere(runtime, session.userId, { except: session.id })
    return { message: 'Every other session was signed out.' }
  })
}

export async function createKey(_previous: unknown, data: FormData) {
  return act<{ key: string }>('build', async (runtime, actor, session) => {
    const fault = { field: 'password', message: 'does not match your password' }
    await assertOwner(runtime, session, String(data.get('password') ?? ''), fault)
    const forDays = Number(textOf(data, 'days') ?? 0) || undefined
    const expiresAt = forDays && new Date(runtime.clock.now() + days(forDays)).toISOString()
    const given = { name: textOf(data, 'name') ?? '', scope: textOf(data, 'scope'), expiresAt }
    const input = parseInput(accountKeyInput, given)
    const { key } = await createAccountKey(runtime, actor, input)
    return { data: { key } }
  })
}

export async function revokeKey(id: string) {
  return act('build', async (runtime, actor) => {
    await revokeAccountKey(runtime, actor, id)
    return { message: 'The key was revoked.' }
  })
}

export async function switchOnAgain(id: string) {
  return act('administer', async (runtime, actor) => {
    const { name } = await switchOn(runtime, actor, id)
    return { message: `${name} is on again.` }
  })
}

export async function removeAccount(_previous: unknown, data: FormData) {
  return act('see', async (runtime, _actor, session) => {
    const given = { email: textOf(data, 'email') ?? '', password: String(data.get('password') ?? '') }
    await deleteAccount(runtime, session, parseInput(accountDeletion, given), cancelUploadsOfPipe(runtime))
    redirect('/')
  })
}
