import { and, eq, isNull, notExists } from 'drizzle-orm'
import { emailLinks, identities, sessions, users } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'

/**
 * Gives an account to whoever proved its address in another way, and drops what was set before: the password and the links
 * of somebody who proved nothing. False where anybody has ever been in it, since what is in there may be theirs. Sessions tell
 * of those whom a node of an older version let in; they alone do not, as they go when they are over.
 */
export async function takeOverUnproven(tx: Db, userId: string, at: Date): Promise<boolean> {
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
