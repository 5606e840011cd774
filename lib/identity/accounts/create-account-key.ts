import type { z } from 'zod'
import { accountKeys } from '#drizzle/schema/index.ts'
import { hashSecret, newSecret, uuidv7 } from '../../platform/kernel/ids.ts'
import { takeCreation } from '../../platform/rate-limits/take-creation.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import { type AccountKey, type accountKeyInput, toAccountKey } from './account-key.ts'

/** The key itself is in this answer and nowhere else. */
export async function createAccountKey(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  { name }: z.output<typeof accountKeyInput>,
): Promise<AccountKey & { key: string }> {
  const key = newSecret('ak_')
  return db.transaction(async (tx) => {
    await takeCreation({ db: tx, clock }, actor, 'account keys')
    const [row] = await tx
      .insert(accountKeys)
      .values({
        id: uuidv7(clock.now()),
        workspaceId: actor.workspaceId,
        name,
        keyHash: hashSecret(key),
        last4: key.slice(-4),
        createdAt: new Date(clock.now()),
      })
      .returning()
    const entry = { action: 'account_key.created', subjectId: row!.id, subjectLabel: name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return { ...toAccountKey(row!), key }
  })
}
