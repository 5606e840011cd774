import { users } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import { insertWorkspace } from '../workspaces/workspaces.ts'

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
  if (made.length === 0) throw new SluiceError('conflict', `There is an account for ${email} already.`)
  return id
}
