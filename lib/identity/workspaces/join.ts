import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { users } from '#drizzle/schema/index.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { nameField, parseInput } from '../../platform/kernel/parse-input.ts'
import { takeForAddress } from '../../platform/rate-limits.ts'
import type { ConfiguredRuntime } from '../../platform/runtime.ts'
import { hashPassword } from '../accounts/password.ts'
import { signIn } from '../accounts/sign-in.ts'
import { createAccount, findUserByEmail, insertUser, newPasswordField } from '../accounts/users.ts'
import { acceptInvitation, findInvitation } from './invitations.ts'

type Given = { token: string; password: string; name: string | undefined }
type Entered = { userId: string; passwordHash: string }
type Guest = { signedIn: { userId: string; email: string } | undefined; address: string }

const newcomer = z.object({ password: newPasswordField, name: nameField.optional() })
const PER_ADDRESS = { burst: 20, refillMs: 30_000 }

/**
 * Accepts an invitation for a signed-in user, with the password of the address's account, or by creating that account.
 * The link proves access to the mailbox, so the address counts as verified. If sign-up is closed, the new account has
 * no workspace of its own.
 */
export async function joinByInvitation(
  runtime: ConfiguredRuntime,
  { token, password, name }: Given,
  { signedIn, address }: Guest,
): Promise<{ userId: string; workspaceId: string; passwordHash?: string }> {
  await takeForAddress(runtime, 'join', address, PER_ADDRESS)
  const { email } = await findInvitation(runtime, token)
  const entered = signedIn
    ? { userId: signedIn.userId }
    : await enter(runtime, { email, password, name }, address)
  const user = { id: entered.userId, email: signedIn?.email ?? email }
  const { workspaceId } = await acceptInvitation(runtime, token, user)
  return { ...entered, workspaceId }
}

async function enter(
  runtime: ConfiguredRuntime,
  { email, password, name }: { email: string; password: string; name: string | undefined },
  address: string,
): Promise<Entered> {
  const existing = await findUserByEmail(runtime.db, email)
  if (!existing) return makeAccount(runtime, email, parseInput(newcomer, { password, ...(name && { name }) }))
  if (!existing.passwordHash)
    throw new SluiceError('forbidden', 'Sign in with your provider first, then open the link again.')
  const entered = await signIn(runtime, { email, password }, address, { proven: true })
  if (!existing.emailVerifiedAt) {
    const emailVerifiedAt = new Date(runtime.clock.now())
    await runtime.db.update(users).set({ emailVerifiedAt }).where(eq(users.id, entered.userId))
  }
  return entered
}

async function makeAccount(
  { db, clock, config }: ConfiguredRuntime,
  email: string,
  { password, name }: z.output<typeof newcomer>,
): Promise<Entered> {
  const passwordHash = await hashPassword(password)
  const account = { email, name, passwordHash, emailVerified: true }
  if (config.signUp === 'closed') return { userId: await insertUser({ db, clock }, account), passwordHash }
  const { userId } = await createAccount({ db, clock }, account)
  return { userId, passwordHash }
}
