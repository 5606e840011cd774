import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { users } from '#drizzle/schema/index.ts'
import { nameField } from '../../platform/kernel/parse-input.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { Session } from '../sessions/read-session.ts'

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
