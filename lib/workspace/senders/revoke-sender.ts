import { eq } from 'drizzle-orm'
import { senders } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findSender } from './find-sender.ts'
import { type Sender, toSender } from './sender.ts'

/** At once and for good, with every temporary token that it issued. Revoking again changes nothing. */
export async function revokeSender(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
): Promise<Sender> {
  return db.transaction(async (tx) => {
    const before = await findSender(tx, actor, id, 'update')
    if (before.revokedAt) return toSender(before)
    const revokedAt = new Date(clock.now())
    const [row] = await tx.update(senders).set({ revokedAt }).where(eq(senders.id, id)).returning()
    const entry = { action: 'sender.revoked', subjectId: id, subjectLabel: before.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toSender(row!)
  })
}
