import { z } from 'zod'
import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { nameField } from '../../platform/kernel/parse-input.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import { takeForAddress, takeFromLimit } from '../../platform/rate-limits.ts'
import type { MailingRuntime } from '../../platform/runtime.ts'
import { createEmailLink } from './email-link.ts'
import { alreadyMail, verifyMail } from './mails.ts'
import { hashPassword } from './password.ts'
import { mustVerify } from './sign-in.ts'
import { createAccount, emailField, newPasswordField } from './users.ts'

export const signUpInput = z.strictObject({
  email: emailField,
  password: newPasswordField,
  name: nameField.optional(),
})

const PER_ADDRESS = { burst: 10, refillMs: 60_000 }
/** Each sign-up sends an email to someone who may not have requested it. */
const PER_MAILBOX = { burst: 3, refillMs: 600_000 }

/** `check-mail` does not reveal whether the account existed: only the email to the address's owner does. */
export type SignedUp =
  | { outcome: 'signed-up'; userId: string; passwordHash: string }
  | { outcome: 'check-mail' }

export async function signUp(
  runtime: MailingRuntime,
  input: z.output<typeof signUpInput>,
  address: string,
): Promise<SignedUp> {
  const { db, config } = runtime
  if (config.signUp === 'closed') {
    throw new SluiceError(
      'forbidden',
      'Sign-up is disabled on this server. Ask your administrator to create an account.',
    )
  }
  await takeForAddress(runtime, 'sign-up', address, PER_ADDRESS)
  await takeFromLimit(runtime, `sign-up:mailbox:${hashSecret(input.email.toLowerCase())}`, PER_MAILBOX)
  const passwordHash = await hashPassword(input.password)
  return db.transaction(async (tx) => {
    const inTx = { ...runtime, db: tx }
    const account = { email: input.email, name: input.name, passwordHash, emailVerified: false }
    const made = await createAccount(inTx, account).catch(unlessTaken)
    if (!made) return refuse(inTx, input.email)
    const { userId } = made
    const link = await createEmailLink(inTx, 'verify', { id: userId, email: input.email })
    await enqueueMail(runtime, tx, { kind: 'mail', mail: verifyMail(input.email, link) })
    return mustVerify(config) ? { outcome: 'check-mail' } : { outcome: 'signed-up', userId, passwordHash }
  })
}

function unlessTaken(error: unknown): undefined {
  if (isSluiceError(error) && error.code === 'conflict') return undefined
  throw error
}

/** If no email is delivered, only the response can report that the account was not created. */
async function refuse(runtime: MailingRuntime, email: string): Promise<SignedUp> {
  if (!mustVerify(runtime.config)) {
    throw new SluiceError('conflict', 'Sign-up failed. If you have an account, sign in instead.')
  }
  await enqueueMail(runtime, runtime.db, { kind: 'mail', mail: alreadyMail(email, runtime.config.baseUrl) })
  return { outcome: 'check-mail' }
}
