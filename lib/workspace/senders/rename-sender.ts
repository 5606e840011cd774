import { eq } from 'drizzle-orm'
import { senders } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findSender } from './find-sender.ts'
import { type Sender, type SenderInput, toSender } from './sender.ts'

/** Files keep the name that they began with. */
export async function renameSender(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
  { name }: SenderInput,
): Promise<Sender> {
  return db.transaction(async (tx) => {
    const before = await findSender(tx, actor, id, 'update')
    if (before.name === name) return toSender(before)
    const [row] = await tx.update(senders).set({ name }).where(eq(senders.id, id)).returning()
    const entry = {
      action: 'sender.renamed',
      subjectId: id,
      subjectLabel: name,
      detail: { before: before.name },
    }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toSender(row!)
  })
}
