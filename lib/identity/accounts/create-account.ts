import { randomBytes } from 'node:crypto'
import { members, users, workspaces } from '#drizzle/schema/index.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'

export type NewAccount = {
  email: string
  /** From `hashPassword`; null for those who only sign in by a provider. */
  passwordHash: string | null
  name?: string | undefined
  emailVerified: boolean
  demo?: boolean
}

/** A user with a workspace of their own. */
export async function createAccount(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  account: NewAccount,
): Promise<{ userId: string; workspaceId: string }> {
  const now = new Date(clock.now())
  const userId = uuidv7(clock.now())
  const workspaceId = uuidv7(clock.now())
  const actor: Actor = { workspaceId, kind: 'user', id: userId, label: account.email, role: 'owner' }
  await db.transaction(async (tx) => {
    const made = await tx
      .insert(users)
      .values({
        id: userId,
        email: account.email,
        name: account.name ?? null,
        passwordHash: account.passwordHash,
        emailVerifiedAt: account.emailVerified ? now : null,
        createdAt: now,
      })
      .onConflictDoNothing()
      .returning({ id: users.id })
    if (made.length === 0)
      throw new SluiceError('conflict', `There is an account for ${account.email} already.`)
    await tx.insert(workspaces).values({
      id: workspaceId,
      name: account.name ?? account.email,
      demo: account.demo ?? false,
      inboxKey: randomBytes(24).toString('base64url'),
      createdAt: now,
    })
    await tx.insert(members).values({ workspaceId, userId, role: 'owner', createdAt: now })
    await recordAudit({ db: tx, clock }, actor, { action: 'account.created', subjectId: userId })
  })
  return { userId, workspaceId }
}
