import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { members, users } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { nameField } from '../../platform/kernel/parse-input.ts'
import { sendsMail } from '../../platform/mail/mail.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import type { Session } from '../sessions/read-session.ts'
import { insertWorkspace } from '../workspaces/workspaces.ts'
import { isGuessable } from './guessable-password.ts'

export const emailField = z
  .string()
  .trim()
  .max(254, 'must have at most 254 characters')
  .pipe(z.email('must be an email address'))

export const newPasswordField = z
  .string()
  .min(10, 'must have at least 10 characters')
  .max(200, 'must have at most 200 characters')
  .refine(
    (password) => !isGuessable(password),
    'is too easy to guess: use several words that do not belong together',
  )

export type UserRow = typeof users.$inferSelect

export async function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  const [user] = await db.select().from(users).where(sql`lower(${users.email}) = lower(${email})`)
  return user
}

export async function findUser(db: Db, id: string): Promise<UserRow | undefined> {
  const [user] = await db.select().from(users).where(eq(users.id, id))
  return user
}

/** The verified addresses of a workspace's members, to which Sluice may send emails that they did not request. */
export async function memberAddresses(db: Db, workspaceId: string): Promise<string[]> {
  const found = await db
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.workspaceId, workspaceId), isNotNull(users.emailVerifiedAt)))
  return found.map(({ email }) => email)
}

/** Of these, the ones that an email would reach. */
export async function reachableAddresses(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  workspaceId: string,
): Promise<string[]> {
  return sendsMail(config) ? memberAddresses(db, workspaceId) : []
}

export type NewAccount = {
  email: string
  /** From `hashPassword`; null for users who only sign in with a provider. */
  passwordHash: string | null
  name?: string | undefined
  emailVerified: boolean
  demo?: boolean
}

/** Creates a user with their own workspace. */
export async function createAccount(
  { db, clock }: CoreRuntime,
  account: NewAccount,
): Promise<{ userId: string; workspaceId: string }> {
  return db.transaction(async (tx) => {
    const inTx = { db: tx, clock }
    const userId = await insertUser(inTx, account)
    const { email, name = email, demo } = account
    const workspaceId = await insertWorkspace(inTx, { id: userId }, { name, demo })
    const actor: Actor = { workspaceId, kind: 'user', id: userId, label: email, role: 'owner' }
    await recordAudit(inTx, actor, { action: 'account.created', subjectId: userId })
    return { userId, workspaceId }
  })
}

export async function insertUser(
  { db, clock }: { db: Db; clock: Runtime['clock'] },
  { email, name, passwordHash, emailVerified }: NewAccount,
): Promise<string> {
  const now = new Date(clock.now())
  const id = uuidv7(clock.now())
  const made = await db
    .insert(users)
    .values({
      id,
      email,
      name: name ?? null,
      passwordHash,
      emailVerifiedAt: emailVerified ? now : null,
      createdAt: now,
    })
    .onConflictDoNothing()
    .returning({ id: users.id })
  if (made.length === 0) throw new SluiceError('conflict', `There is already an account for ${email}.`)
  return id
}

export const profileChanges = z.strictObject({ name: nameField })

export async function updateProfile(
  { db, clock }: CoreRuntime,
  session: Session,
  { name }: z.output<typeof profileChanges>,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.update(users).set({ name }).where(eq(users.id, session.userId))
    await recordAudit({ db: tx, clock }, session.actor, { action: 'profile.updated' })
  })
}
