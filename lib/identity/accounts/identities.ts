import { and, eq } from 'drizzle-orm'
import { identities, users } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import type { MailingRuntime } from '../../platform/runtime.ts'
import { recordForPerson } from '../audit/record-audit.ts'
import type { Person } from '../sessions/read-session.ts'
import { providerMail } from './mails.ts'
import { type ProviderId, type ProviderProfile, providersOf } from './providers.ts'
import { findIdentity, ProviderRefused } from './sign-in-with-provider.ts'

type Owner = Pick<Person, 'id' | 'userId' | 'email'>

/** The accounts at providers by which a person signs in, connected and disconnected while they are signed in. */
export type ConnectedProvider = {
  id: ProviderId
  name: string
  connected: boolean
  /** GitHub does not say whether an address is proven, so it connects to no account that exists. */
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

/** The provider vouches for the very address of this account, so it counts as verified here as well. */
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

/** There must be another way in: a password, or another provider. */
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
        'You could not sign in any more. Set a password first, under Profile.',
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
