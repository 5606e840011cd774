import { and, desc, eq, lt, or, sql } from 'drizzle-orm'
import { senders } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { kindOfToken } from '../../identity/kind-of-token.ts'
import { notOfDemo } from '../../identity/suspension.ts'
import type { Db } from '../../platform/db/database.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, isUuid } from '../../platform/kernel/ids.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import type { ConfiguredRuntime, Runtime } from '../../platform/runtime.ts'
import { type Sender, toSender } from './sender.ts'

/**
 * A condition on a row of `senders`: it does not belong to an upload link. A link's Sender is neither a backend nor part
 * of a configuration, and ends with its link.
 */
export const IS_OF_NO_LINK = sql`not exists (select from upload_links l where l.sender_id = senders.id)`

type Row = typeof senders.$inferSelect
export type SenderRow = Pick<Row, 'id' | 'workspaceId'>

/** The error names the kind of token that was sent instead. */
export function assertSenderToken(token: string): void {
  if (token.startsWith('sk_')) return
  const given = kindOfToken(token)
  throw new SluiceError(
    'token_invalid',
    given ? `This is ${given}; send a Sender's sk_ token.` : 'A Sender token starts with sk_.',
  )
}

/** The Sender of an `sk_` token. */
export async function authenticateSender(
  { db, clock, config }: ConfiguredRuntime,
  token: string,
): Promise<SenderRow> {
  assertSenderToken(token)
  const hash = hashSecret(token)
  const [row] = await db
    .select()
    .from(senders)
    .where(
      and(
        or(eq(senders.tokenHash, hash), eq(senders.previousTokenHash, hash)),
        notOfDemo(config, sql`${senders.workspaceId}`),
      ),
    )
  if (!row) throw new SluiceError('token_invalid', 'There is no Sender with this token.')
  const isOver = row.tokenHash !== hash && (row.previousTokenUntil?.getTime() ?? 0) <= clock.now()
  if (row.revokedAt || isOver)
    throw new SluiceError('token_revoked', "This token's Sender was revoked, or the token was rotated.")
  noteRequest({ workspaceId: row.workspaceId })
  return row
}

/** A Sender in another workspace is reported as missing. */
export async function findSender(db: Db, actor: Actor, id: string, lock?: 'update'): Promise<Row> {
  const query = db
    .select()
    .from(senders)
    .where(and(eq(senders.id, id), eq(senders.workspaceId, actor.workspaceId)))
  const [row] = isUuid(id) ? await (lock ? query.for(lock) : query) : []
  if (!row) throw new SluiceError('not_found', 'There is no such Sender.')
  return row
}

export async function showSender({ db }: Pick<Runtime, 'db'>, actor: Actor, id: string): Promise<Sender> {
  return toSender(await findSender(db, actor, id))
}

export async function listSenders(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<Sender>> {
  const before = readCursor(cursor, isUuid)
  const rows = await db
    .select()
    .from(senders)
    .where(
      and(
        eq(senders.workspaceId, actor.workspaceId),
        IS_OF_NO_LINK,
        before ? lt(senders.id, before) : undefined,
      ),
    )
    .orderBy(desc(senders.id))
    .limit(limit + 1)
  return toPage(rows, limit, toSender, (row) => row.id)
}
