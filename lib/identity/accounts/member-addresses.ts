import { and, eq, isNotNull } from 'drizzle-orm'
import { members, users } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'

/** Members of a workspace whose address is known to be theirs: whom Sluice may write to unasked. */
export async function memberAddresses(db: Db, workspaceId: string): Promise<string[]> {
  const found = await db
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.workspaceId, workspaceId), isNotNull(users.emailVerifiedAt)))
  return found.map(({ email }) => email)
}
