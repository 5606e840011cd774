'use server'

import { redirect } from 'next/navigation'
import { passwordResetRequest, requestPasswordReset } from '#lib/accounts/request-password-reset.ts'
import { passwordReset, resetPassword } from '#lib/accounts/reset-password.ts'
import { signIn, signInInput } from '#lib/accounts/sign-in.ts'
import { signUp, signUpInput } from '#lib/accounts/sign-up.ts'
import { verifyEmail } from '#lib/accounts/verify-email.ts'
import { parseInput } from '#lib/kernel/parse-input.ts'
import { getRuntime } from '#lib/runtime.ts'
import { answer } from '../actions/act.ts'
import { textOf } from '../actions/form-fields.ts'
import { currentSession, openSession, visitor } from '../session.ts'
import { ownPath } from './own-path.ts'

/** Passwords are taken as typed; blanks at their ends are theirs. */
const passwordOf = (data: FormData, name = 'password') => String(data.get(name) ?? '')

export async function enter(next: string, data: FormData) {
  return answer(async () => {
    const given = { email: textOf(data, 'email') ?? '', password: passwordOf(data) }
    const { userId } = await signIn(getRuntime(), parseInput(signInInput, given), (await visitor()).address)
    await openSession(userId)
    redirect(ownPath(next))
  })
}

export async function register(data: FormData) {
  return answer<'check-mail'>(async () => {
    const given = {
      email: textOf(data, 'email') ?? '',
      password: passwordOf(data),
      name: textOf(data, 'name'),
    }
    const made = await signUp(getRuntime(), parseInput(signUpInput, given), (await visitor()).address)
    if (made.outcome === 'check-mail') return { data: 'check-mail' }
    await openSession(made.userId)
    redirect('/dashboard')
  })
}

export async function askForReset(data: FormData) {
  return answer<'sent'>(async () => {
    const input = parseInput(passwordResetRequest, { email: textOf(data, 'email') ?? '' })
    await requestPasswordReset(getRuntime(), input, (await visitor()).address)
    return { data: 'sent' }
  })
}

export async function setNewPassword(token: string, data: FormData) {
  return answer<'changed'>(async () => {
    const given = parseInput(passwordReset, { token, password: passwordOf(data) })
    const { userId } = await resetPassword(getRuntime(), given)
    await openSession(userId)
    return { data: 'changed' }
  })
}

export async function verify(token: string, data: FormData) {
  return answer<string>(async () => {
    const userId = (await currentSession())?.userId
    const { email } = await verifyEmail(getRuntime(), { token, password: passwordOf(data), userId })
    return { data: email }
  })
}
