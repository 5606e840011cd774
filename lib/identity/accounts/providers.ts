import { and, eq, isNull, notExists } from 'drizzle-orm'
import { emailLinks, identities, sessions, users } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import type { ConfiguredRuntime, MailingRuntime } from '../../platform/runtime.ts'
import type { Config } from '../../platform/settings/config.ts'
import { recordForPerson } from '../audit/record-audit.ts'
import type { Person } from '../sessions/read-session.ts'
import { isInvited } from '../workspaces/invitations.ts'
import { providerMail } from './mails.ts'
import { turnOutStrangers } from './turned-off.ts'
import { createAccount, findUser, findUserByEmail, insertUser } from './users.ts'

/** The external identity providers: GitHub, Google, and the OpenID Connect provider at OIDC_ISSUER. */
export type ProviderId = 'github' | 'google' | 'oidc'

/** A user's profile from a provider. */
export type ProviderProfile = {
  provider: ProviderId
  providerAccountId: string
  email: string
  /** Whether the provider has verified the address. */
  emailVerified: boolean
  name?: string | undefined
}

/** The configured providers. */
export function providersOf({
  github,
  google,
  oidc,
}: Pick<Config, 'github' | 'google' | 'oidc'>): { id: ProviderId; name: string }[] {
  return [
    ...(oidc ? [{ id: 'oidc' as const, name: oidc.name }] : []),
    ...(github ? [{ id: 'github' as const, name: 'GitHub' }] : []),
    ...(google ? [{ id: 'google' as const, name: 'Google' }] : []),
  ]
}

type Given = {
  provider: ProviderId
  providerAccountId: string
  email: string | null | undefined
  name: string | null | undefined
}

/**
 * Turns a provider's response into a profile. Of the three providers, only GitHub does not say whether an address
 * is verified.
 */
export function toProviderProfile({ email, name, ...given }: Given, profile: unknown): ProviderProfile {
  const claimed = (profile as { email_verified?: unknown } | undefined)?.email_verified === true
  return {
    ...given,
    email: email ?? '',
    emailVerified: given.provider !== 'github' && claimed,
    name: name ?? undefined,
  }
}

/** The reasons why a provider's response does not sign a user in, shown on the page that the user returns to. */
export const PROVIDER_REFUSALS = {
  no_email: 'That account does not share an email address with Sluice.',
  not_verified: 'Your provider has not verified your email address. Verify it there, then try again.',
  address_taken:
    'There is already an account with this email address. Sign in to it as before, then connect this provider under Settings, Security.',
  not_proven:
    'There is an account with this email address, but you have not verified the address. Sign in with its password, or set a new password, which also verifies it.',
  sign_up_closed: 'Sign-up is disabled on this server. Ask your administrator for an account.',
  disabled: 'This account is disabled. Contact your administrator.',
  other_address:
    'That account has a different email address than your account here. The addresses must be the same.',
  connected_elsewhere: 'That account is already connected to another account here.',
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
 * Signs in a user identified by a provider. GitHub and Google are connected to an existing account with the same
 * address if both sides have verified it. An OpenID Connect provider is never connected automatically, since its
 * operator decides which addresses it verifies: users connect it themselves while signed in. Any of them can take over
 * an account that was never used.
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
 * Gives an account to the user who verified its address in another way, and drops the password and links that were set
 * without verifying it. Returns false if the account was ever used, since its contents may belong to an earlier user.
 * A node running an older version records a sign-in only as a session. Looking for sessions is not sufficient on its
 * own, since they are deleted after they end.
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

type Owner = Pick<Person, 'id' | 'userId' | 'email'>

/** A provider account that a user can sign in with. Users connect and disconnect them while signed in. */
export type ConnectedProvider = {
  id: ProviderId
  name: string
  connected: boolean
  /** GitHub does not say whether an address is verified, so it cannot be connected to an existing account. */
  connectable: boolean
}

export async function listProviders(
  { db, config }: Pick<MailingRuntime, 'db' | 'config'>,
  userId: string,
): Promise<ConnectedProvider[]> {
  const found = await db
    .select({ provider: identities.provider })
    .from(identities)
    .where(eq(identities.userId, userId))
  const connected = new Set(found.map(({ provider }) => provider))
  return providersOf(config).map(({ id, name }) => ({
    id,
    name,
    connected: connected.has(id),
    connectable: id !== 'github',
  }))
}

/** The provider must have verified the account's address, which then also counts as verified here. */
export async function connectProvider(
  runtime: MailingRuntime,
  person: Owner,
  profile: ProviderProfile,
): Promise<void> {
  const { provider, providerAccountId, email } = profile
  if (!email) throw new ProviderRefused('no_email')
  if (!profile.emailVerified) throw new ProviderRefused('not_verified')
  if (email.toLowerCase() !== person.email.toLowerCase()) throw new ProviderRefused('other_address')
  const { userId } = person
  const createdAt = new Date(runtime.clock.now())
  await runtime.db.transaction(async (tx) => {
    const inTx = { ...runtime, db: tx }
    const made = await tx
      .insert(identities)
      .values({ provider, providerAccountId, userId, email, createdAt })
      .onConflictDoNothing()
      .returning({ userId: identities.userId })
    if (made.length === 0) {
      const holder = await findIdentity(tx, profile)
      if (holder?.userId !== userId) throw new ProviderRefused('connected_elsewhere')
      return
    }
    await verify(tx, userId, createdAt)
    await note(inTx, person, { action: 'sign_in.connected', provider })
  })
}

async function verify(tx: Db, userId: string, emailVerifiedAt: Date): Promise<void> {
  const [user] = await tx.select({ at: users.emailVerifiedAt }).from(users).where(eq(users.id, userId))
  if (!user?.at) await tx.update(users).set({ emailVerifiedAt }).where(eq(users.id, userId))
}

/** The user must have another way to sign in: a password or another provider. */
export async function disconnectProvider(
  runtime: MailingRuntime,
  person: Owner,
  provider: ProviderId,
): Promise<void> {
  const { userId } = person
  await runtime.db.transaction(async (tx) => {
    const [user] = await tx
      .select({ passwordHash: users.passwordHash })
      .from(users)
      .where(eq(users.id, userId))
      .for('update')
    const all = await tx.select().from(identities).where(eq(identities.userId, userId))
    if (!all.some((one) => one.provider === provider))
      throw new SluiceError('not_found', 'This provider is not connected to your account.')
    if (!user?.passwordHash && all.every((one) => one.provider === provider))
      throw new SluiceError(
        'conflict',
        'You would no longer be able to sign in. Set a password under Settings, Profile first.',
      )
    await tx.delete(identities).where(and(eq(identities.userId, userId), eq(identities.provider, provider)))
    await note({ ...runtime, db: tx }, person, { action: 'sign_in.disconnected', provider })
  })
}

type Change = { action: 'sign_in.connected' | 'sign_in.disconnected'; provider: ProviderId }

async function note(
  inTx: MailingRuntime & { db: Db },
  person: Owner,
  { action, provider }: Change,
): Promise<void> {
  const name = providersOf(inTx.config).find(({ id }) => id === provider)?.name ?? provider
  await recordForPerson(inTx, person, { action, detail: { provider } })
  const mail = providerMail(
    person.email,
    { name, connected: action === 'sign_in.connected' },
    inTx.config.baseUrl,
  )
  await enqueueMail(inTx, inTx.db, { kind: 'mail', mail })
}
