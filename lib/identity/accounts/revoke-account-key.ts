import { and, eq } from 'drizzle-orm'
import { accountKeys } from '#drizzle/schema/index.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import { type AccountKey, toAccountKey } from './account-key.ts'

/** At once and for good. Revoking again changes nothing. */
export async function revokeAccountKey(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
): Promise<AccountKey> {
  return db.transaction(async (tx) => {
    const mine = and(eq(accountKeys.id, id), eq(accountKeys.workspaceId, actor.workspaceId))
    const [before] = isUuid(id) ? await tx.select().from(accountKeys).where(mine).for('update') : []
    if (!before) throw new SluiceError('not_found', 'There is no such account key.')
    if (before.revokedAt) return toAccountKey(before)
    const revokedAt = new Date(clock.now())
    await tx.update(accountKeys).set({ revokedAt }).where(mine)
    const entry = { action: 'account_key.revoked', subjectId: id, subjectLabel: before.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toAccountKey({ ...before, revokedAt })
  })
}
