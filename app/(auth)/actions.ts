'use server'

import { redirect } from 'next/navigation'
import { readLocalDemo } from '#lib/dashboard/demo/local-demo.ts'
import {
  passwordReset,
  passwordResetRequest,
  requestPasswordReset,
  resetPassword,
} from '#lib/identity/accounts/change-password.ts'
import { signIn, signInInput } from '#lib/identity/accounts/sign-in.ts'
import { signUp, signUpInput } from '#lib/identity/accounts/sign-up.ts'
import { verifyEmail } from '#lib/identity/accounts/verify-email.ts'
import { joinByInvitation } from '#lib/identity/workspaces/join.ts'
import { openWorkspace } from '#lib/identity/workspaces/workspaces.ts'
import { SluiceError } from '#lib/platform/kernel/errors.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { answer } from '../actions/act.ts'
import { passwordOf, textOf } from '../actions/form-fields.ts'
import { currentPerson, currentStanding, openSession, visitor } from '../session.ts'
import { ownPath } from './own-path.ts'

/** The page's script sends the part after the #; without JavaScript, users paste the full link. */
function tokenOf(data: FormData): string {
  const given = data.getAll('link').map((link) => String(link).split('#').at(-1)!.trim())
  return given.find((token) => token !== '') ?? ''
}

export async function enter(next: string, _previous: unknown, data: FormData) {
  return answer(data, async () => {
    const given = { email: textOf(data, 'email') ?? '', password: passwordOf(data) }
    const input = parseInput(signInInput, given)
    const { userId, passwordHash } = await signIn(getRuntime(), input, (await visitor()).address)
    await openSession(userId, { passwordHash })
    redirect(ownPath(next))
  })
}

/** For someone at this machine. The front door refuses requests to names of other sites that resolve to it. */
export async function openDemo() {
  return answer(undefined, async () => {
    const { ownerId } = await readLocalDemo(getRuntime())
    await openSession(ownerId)
    redirect('/dashboard')
  })
}

export async function register(_previous: unknown, data: FormData) {
  return answer<'check-mail'>(data, async () => {
    const given = {
      email: textOf(data, 'email') ?? '',
      password: passwordOf(data),
      name: textOf(data, 'name'),
    }
    const made = await signUp(getRuntime(), parseInput(signUpInput, given), (await visitor()).address)
    if (made.outcome === 'check-mail') return { data: 'check-mail' }
    await openSession(made.userId, { passwordHash: made.passwordHash })
    redirect('/dashboard')
  })
}

export async function askForReset(_previous: unknown, data: FormData) {
  return answer<'sent'>(data, async () => {
    const input = parseInput(passwordResetRequest, { email: textOf(data, 'email') ?? '' })
    await requestPasswordReset(getRuntime(), input, (await visitor()).address)
    return { data: 'sent' }
  })
}

export async function setNewPassword(_previous: unknown, data: FormData) {
  return answer<'changed'>(data, async () => {
    const given = parseInput(passwordReset, { token: tokenOf(data), password: passwordOf(data) })
    const { userId } = await resetPassword(getRuntime(), given)
    await openSession(userId)
    return { data: 'changed' }
  })
}

export async function join(_previous: unknown, data: FormData) {
  return answer(data, async () => {
    const standing = await currentStanding()
    if (standing?.state === 'code_due')
      throw new SluiceError('forbidden', 'Enter your second-factor code first, then open the link again.')
    const signedIn = await currentPerson()
    const given = { token: tokenOf(data), password: passwordOf(data), name: textOf(data, 'name') }
    const { address } = await visitor()
    const { userId, ...opening } = await joinByInvitation(getRuntime(), given, { signedIn, address })
    if (signedIn) await openWorkspace(getRuntime(), signedIn, opening.workspaceId)
    else await openSession(userId, opening)
    redirect('/dashboard')
  })
}

export async function verify(_previous: unknown, data: FormData) {
  return answer<string>(data, async () => {
    const userId = (await currentPerson())?.userId
    const given = { token: tokenOf(data), password: passwordOf(data), userId }
    const { email } = await verifyEmail(getRuntime(), given)
    return { data: email }
  })
}
