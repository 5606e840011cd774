import { and, desc, eq, lt } from 'drizzle-orm'
import { senders, tokens } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { isPipeId, isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Token, toToken } from './token.ts'

type Query = PageQuery & { pipeId?: string | undefined; senderId?: string | undefined }

export async function listTokens(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  { limit, cursor, pipeId, senderId }: Query,
): Promise<Page<Token>> {
  const before = readCursor(cursor, isUuid)
  if ((senderId && !isUuid(senderId)) || (pipeId && !isPipeId(pipeId))) return { data: [], nextCursor: null }
  const found = await db
    .select({ token: tokens, sender: senders.name })
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
    ({ token, sender }) => toToken(token, sender),
    ({ token }) => token.id,
  )
}
