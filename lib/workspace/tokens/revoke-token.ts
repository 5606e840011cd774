import { and, eq } from 'drizzle-orm'
import { senders, tokens } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Token, toToken } from './token.ts'

/** At once, for uploads under way too. Revoking again changes nothing. */
export async function revokeToken(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
): Promise<Token> {
  return db.transaction(async (tx) => {
    const [found] = isUuid(id)
      ? await tx
          .select({ token: tokens, sender: senders.name })
          .from(tokens)
          .innerJoin(senders, eq(senders.id, tokens.senderId))
          .where(and(eq(tokens.id, id), eq(tokens.workspaceId, actor.workspaceId)))
          .for('update', { of: tokens })
      : []
    if (!found) throw new SluiceError('not_found', 'There is no such token.')
    if (found.token.revokedAt) return toToken(found.token, found.sender)
    const revokedAt = new Date(clock.now())
    await tx.update(tokens).set({ revokedAt }).where(eq(tokens.id, id))
    await recordAudit({ db: tx, clock }, actor, { action: 'token.revoked', subjectId: id })
    return toToken({ ...found.token, revokedAt }, found.sender)
  })
}
