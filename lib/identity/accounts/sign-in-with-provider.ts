import { and, eq, isNull, notExists } from 'drizzle-orm'
import { emailLinks, identities, sessions, users } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { ConfiguredRuntime, Runtime } from '../../platform/runtime.ts'
import { createAccount } from './create-account.ts'
import { turnOutStrangers } from './turn-out-strangers.ts'
import { findUser, findUserByEmail } from './users.ts'

/** What GitHub or Google says of somebody. */
export type ProviderProfile = {
  provider: 'github' | 'google'
  providerAccountId: string
  email: string
  /** The provider vouches that the address is theirs. */
  emailVerified: boolean
  name?: string | undefined
}

/**
 * An account is joined to an existing one of the same address only where both sides have proven the address, or where
 * nobody has been in the existing one: otherwise whoever first typed it could wait in somebody else's account.
 */
export async function signInWithProvider(
  runtime: ConfiguredRuntime,
  profile: ProviderProfile,
): Promise<{ userId: string }> {
  const { provider, providerAccountId } = profile
  const user = await runtime.db.transaction(async (tx) => {
    const [known] = await tx
      .select({ userId: identities.userId })
      .from(identities)
      .where(and(eq(identities.provider, provider), eq(identities.providerAccountId, providerAccountId)))
    if (known) return known
    const userId = await joinOrCreate({ ...runtime, db: tx }, profile)
    const createdAt = new Date(runtime.clock.now())
    await tx.insert(identities).values({ provider, providerAccountId, userId, createdAt })
    return { userId }
  })
  if ((await findUser(runtime.db, user.userId))?.disabledAt)
    throw new SluiceError('forbidden', 'This account is disabled. Ask the operator.')
  return user
}

async function joinOrCreate(
  runtime: Pick<Runtime, 'clock' | 'config'> & { db: Db },
  { email, emailVerified, name }: ProviderProfile,
): Promise<string> {
  const existing = await findUserByEmail(runtime.db, email)
  if (existing) {
    if (emailVerified && existing.emailVerifiedAt) return existing.id
    const now = new Date(runtime.clock.now())
    if (emailVerified && (await takeOverUnproven(runtime.db, existing.id, now))) {
      await turnOutStrangers(runtime, existing.id)
      return existing.id
    }
    throw new SluiceError(
      'forbidden',
      'There is an account with this e-mail address that is not proven to be yours. Sign in with its password, or set a new one: the link for that proves it.',
    )
  }
  if (runtime.config.signUp === 'closed') {
    throw new SluiceError('forbidden', 'Sign-up is closed here. The operator makes accounts.')
  }
  const made = await createAccount(runtime, { email, name, passwordHash: null, emailVerified })
  return made.userId
}

type Given = {
  provider: ProviderProfile['provider']
  providerAccountId: string
  email: string | null | undefined
  name: string | null | undefined
}

/** What a provider's answer proves. Google says whether an address is proven; GitHub hands out addresses that are not. */
export function toProviderProfile({ email, name, ...given }: Given, profile: unknown): ProviderProfile {
  const claimed = (profile as { email_verified?: unknown } | undefined)?.email_verified === true
  return {
    ...given,
    email: email ?? '',
    emailVerified: given.provider === 'google' && claimed,
    name: name ?? undefined,
  }
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
