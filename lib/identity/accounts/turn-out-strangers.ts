import { eq, inArray } from 'drizzle-orm'
import { accountKeys, identities, members } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'

/**
 * Whoever came in by a provider before the address was proven may not be its owner, and might have waited for them.
 * Their provider's account and the keys that they made open nothing from now on.
 */
export async function turnOutStrangers(tx: Db, userId: string, at: Date): Promise<void> {
  await tx.delete(identities).where(eq(identities.userId, userId))
  const theirs = tx.select({ id: members.workspaceId }).from(members).where(eq(members.userId, userId))
  await tx.update(accountKeys).set({ revokedAt: at }).where(inArray(accountKeys.workspaceId, theirs))
}
