import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { members, users } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'

export const emailField = z
  .string()
  .trim()
  .max(254, 'must have at most 254 characters')
  .pipe(z.email('must be an e-mail address'))

export const newPasswordField = z
  .string()
  .min(10, 'must have at least 10 characters')
  .max(200, 'must have at most 200 characters')

export type UserRow = typeof users.$inferSelect

export async function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  const [user] = await db.select().from(users).where(sql`lower(${users.email}) = lower(${email})`)
  return user
}

export async function findUser(db: Db, id: string): Promise<UserRow | undefined> {
  const [user] = await db.select().from(users).where(eq(users.id, id))
  return user
}

/** Members of a workspace whose address is known to be theirs: whom Sluice may write to unasked. */
export async function memberAddresses(db: Db, workspaceId: string): Promise<string[]> {
  const found = await db
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.workspaceId, workspaceId), isNotNull(users.emailVerifiedAt)))
  return found.map(({ email }) => email)
}
