import { and, eq, isNull, notExists } from 'drizzle-orm'
import { emailLinks, identities, sessions, users } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { ConfiguredRuntime } from '../../platform/runtime.ts'
import { isInvited } from '../workspaces/invitations.ts'
import { createAccount, insertUser } from './create-account.ts'
import type { ProviderProfile } from './providers.ts'
import { turnOutStrangers } from './turn-out-strangers.ts'
import { findUser, findUserByEmail } from './users.ts'

/** Why a provider's word does not let somebody in: what the page that they come back to says. */
export const PROVIDER_REFUSALS = {
  no_email: 'That account has no email address that Sluice may see.',
  not_verified:
    'Your provider does not confirm that the email address is yours. Verify it there, then try again.',
  address_taken:
    'There already is an account with this email address. Sign in to it the way you did before, then connect this provider under Settings, Security.',
  not_proven:
    'There is an account with this email address that is not proven to be yours. Sign in with its password, or set a new one: the link for that proves it.',
  sign_up_closed: 'Sign-up is closed here. Ask whoever runs this installation for an account.',
  disabled: 'This account is disabled. Ask whoever runs this installation.',
  other_address:
    'That account has another email address than yours here. Only the same address can be connected.',
  connected_elsewhere: 'That account is connected to another account here.',
} as const
export type ProviderRefusal = keyof typeof PROVIDER_REFUSALS

export class ProviderRefused extends SluiceError {
  readonly reason: ProviderRefusal

  constructor(reason: ProviderRefusal) {
    super('forbidden', PROVIDER_REFUSALS[reason])
    this.reason = reason
  }
}

/**
 * Lets in whoever a provider vouches for. GitHub and Google join an existing account of the same address where both sides have
 * proven it. An OpenID Connect provider joins none unasked, as whoever runs it decides which addresses it vouches for: the
 * person connects it themselves, while signed in. Either takes an account that nobody has ever been in.
 */
export async function signInWithProvider(
  runtime: ConfiguredRuntime,
  profile: ProviderProfile,
): Promise<{ userId: string }> {
  const { provider, providerAccountId, email } = profile
  const user = await runtime.db.transaction(async (tx) => {
    const known = await findIdentity(tx, profile)
    if (known) return known
    const userId = await joinOrCreate({ ...runtime, db: tx }, profile)
    const createdAt = new Date(runtime.clock.now())
    await tx.insert(identities).values({ provider, providerAccountId, userId, email, createdAt })
    return { userId }
  })
  if ((await findUser(runtime.db, user.userId))?.disabledAt) throw new ProviderRefused('disabled')
  return user
}

export async function findIdentity(
  tx: Db,
  { provider, providerAccountId }: Pick<ProviderProfile, 'provider' | 'providerAccountId'>,
): Promise<{ userId: string } | undefined> {
  const [known] = await tx
    .select({ userId: identities.userId })
    .from(identities)
    .where(and(eq(identities.provider, provider), eq(identities.providerAccountId, providerAccountId)))
  return known
}

async function joinOrCreate(
  runtime: ConfiguredRuntime & { db: Db },
  profile: ProviderProfile,
): Promise<string> {
  const { provider, email, emailVerified, name } = profile
  if (!email) throw new ProviderRefused('no_email')
  if (provider === 'oidc' && !emailVerified) throw new ProviderRefused('not_verified')
  const existing = await findUserByEmail(runtime.db, email)
  if (existing) {
    const proven = emailVerified && existing.emailVerifiedAt
    if (proven && provider !== 'oidc') return existing.id
    const now = new Date(runtime.clock.now())
    if (emailVerified && (await takeOverUnproven(runtime.db, existing.id, now))) {
      await turnOutStrangers(runtime, existing.id)
      return existing.id
    }
    throw new ProviderRefused(proven ? 'address_taken' : 'not_proven')
  }
  const account = { email, name, passwordHash: null, emailVerified }
  if (runtime.config.signUp === 'open') return (await createAccount(runtime, account)).userId
  if (emailVerified && (await isInvited(runtime, email))) return insertUser(runtime, account)
  throw new ProviderRefused('sign_up_closed')
}

/**
 * Gives an account to whoever proved its address in another way, and drops what was set before: the password and the links
 * of somebody who proved nothing. False where anybody has ever been in it, since what is in there may be theirs. Sessions tell
 * of those whom a node of an older version let in; they alone do not, as they go when they are over.
 */
async function takeOverUnproven(tx: Db, userId: string, at: Date): Promise<boolean> {
  const entered = tx.select().from(sessions).where(eq(sessions.userId, users.id))
  const joined = tx.select().from(identities).where(eq(identities.userId, users.id))
  const taken = await tx
    .update(users)
    .set({ passwordHash: null, emailVerifiedAt: at })
    .where(
      and(
        eq(users.id, userId),
        isNull(users.emailVerifiedAt),
        isNull(users.enteredAt),
        notExists(entered),
        notExists(joined),
      ),
    )
    .returning({ id: users.id })
  if (taken.length === 0) return false
  await tx.delete(emailLinks).where(eq(emailLinks.userId, userId))
  return true
}
