import { and, desc, eq, gt, lt } from 'drizzle-orm'
import { senders, tokens } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isPipeId, isUuid } from '../../platform/kernel/ids.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { type Token, toToken } from './token.ts'

type Query = PageQuery & { pipeId?: string | undefined; senderId?: string | undefined }

/** Revoking a Sender also revokes its tokens, although their rows do not say so. */
export async function listTokens(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  { limit, cursor, pipeId, senderId }: Query,
): Promise<Page<Token>> {
  const before = readCursor(cursor, isUuid)
  if ((senderId && !isUuid(senderId)) || (pipeId && !isPipeId(pipeId))) return { data: [], nextCursor: null }
  const found = await db
    .select({ token: tokens, sender: senders })
    .from(tokens)
    .innerJoin(senders, eq(senders.id, tokens.senderId))
    .where(
      and(
        eq(tokens.workspaceId, actor.workspaceId),
        before ? lt(tokens.id, before) : undefined,
        pipeId ? eq(tokens.pipeId, pipeId) : undefined,
        senderId ? eq(tokens.senderId, senderId) : undefined,
      ),
    )
    .orderBy(desc(tokens.id))
    .limit(limit + 1)
  return toPage(
    found,
    limit,
    ({ token, sender }) => toToken({ ...token, revokedAt: token.revokedAt ?? sender.revokedAt }, sender.name),
    ({ token }) => token.id,
  )
}

/** Revokes a token immediately, even for uploads in progress. Revoking it again changes nothing. */
export async function revokeToken({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<Token> {
  const revokedAt = new Date(clock.now())
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
    await tx.update(tokens).set({ revokedAt }).where(eq(tokens.id, id))
    await recordAudit({ db: tx, clock }, actor, { action: 'token.revoked', subjectId: id })
    return toToken({ ...found.token, revokedAt }, found.sender)
  })
}

/** Makes a token expire early, to show how an uploader reacts. Unlike revoking the token, this keeps its uploads. */
export async function expireToken({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<void> {
  if (!isUuid(id)) throw new SluiceError('not_found', 'There is no such token.')
  const now = new Date(clock.now())
  await db
    .update(tokens)
    .set({ expiresAt: now })
    .where(and(eq(tokens.id, id), eq(tokens.workspaceId, actor.workspaceId), gt(tokens.expiresAt, now)))
}
