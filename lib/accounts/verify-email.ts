import { and, eq } from 'drizzle-orm'
import { users } from '#drizzle/schema/index.ts'
import type { Runtime } from '../runtime.ts'
import { useEmailLink } from './email-link.ts'

export async function verifyEmail(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  token: string,
): Promise<{ email: string }> {
  return db.transaction(async (tx) => {
    const { userId, email } = await useEmailLink({ db: tx, clock }, 'verify', token)
    await tx
      .update(users)
      .set({ emailVerifiedAt: new Date(clock.now()) })
      .where(and(eq(users.id, userId), eq(users.email, email)))
    return { email }
  })
}
