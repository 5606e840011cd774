import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { networkOf, takeForAddress, takeFromLimit } from '../../platform/rate-limits.ts'
import type { ConfiguredRuntime, Runtime } from '../../platform/runtime.ts'
import { notOfDemo } from '../suspension.ts'
import { verifyPassword } from './password.ts'
import { findUserByEmail } from './users.ts'

export const signInInput = z.strictObject({
  email: z.string().trim().max(254),
  password: z.string().max(1000),
})

const PER_ADDRESS = { burst: 20, refillMs: 30_000 }
const PER_ADDRESS_AND_ACCOUNT = { burst: 10, refillMs: 60_000 }
/**
 * Applies to all addresses together. Anyone who uses up this limit locks the owner out, but only until the owner resets
 * the password, which also signs the owner in.
 */
const PER_ACCOUNT = { burst: 100, refillMs: 60_000 }

/**
 * Attempts are limited per address, per account and address, and per account, whether the account exists or not. All
 * failures look the same and take the same time, so that nobody learns which accounts exist.
 */
export async function signIn(
  runtime: ConfiguredRuntime,
  { email, password }: z.output<typeof signInInput>,
  address: string,
  /** Whether a link sent to the account's mailbox was opened. */
  { proven: byLink = false } = {},
): Promise<{ userId: string; passwordHash: string }> {
  const [network, account] = [networkOf(address), hashSecret(email.toLowerCase())]
  await takeForAddress(runtime, 'sign-in', address, PER_ADDRESS)
  await takeFromLimit(runtime, `sign-in:both:${network}:${account}`, PER_ADDRESS_AND_ACCOUNT)
  await takeFromLimit(runtime, `sign-in:account:${account}`, PER_ACCOUNT)
  const user = email.includes('\0') ? undefined : await findUserByEmail(runtime.db, email)
  const right = await verifyPassword(password, user?.passwordHash ?? null)
  const proven = byLink || user?.emailVerifiedAt || !mustVerify(runtime.config)
  if (user?.passwordHash && right && proven && !user.disabledAt && (await mayEnter(runtime, user.id)))
    return { userId: user.id, passwordHash: user.passwordHash }
  throw new SluiceError(
    'sign_in_failed',
    'The email address or the password is wrong, or the address is not verified yet.',
  )
}

/** If this server can send email, an address must be verified before it can be used. */
export function mustVerify({ smtpUrl }: { smtpUrl: string | undefined }): boolean {
  return smtpUrl !== undefined
}

/** Every user may sign in, except the demo workspace's user while the demo is off. */
async function mayEnter({ db, config }: Pick<Runtime, 'db' | 'config'>, userId: string): Promise<boolean> {
  const open = notOfDemo(config, sql`m.workspace_id`)
  const [found] = await rows<{ all: number; open: number }>(
    db,
    sql`select count(*)::int as all, (count(*) filter (where ${open}))::int as open from members m
      where m.user_id = ${userId}::uuid`,
  )
  return found!.open > 0 || found!.all === 0
}
