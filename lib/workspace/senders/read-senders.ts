import { and, desc, eq, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { senderGroups, senders } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { kindOfToken } from '../../identity/kind-of-token.ts'
import { notOfDemo } from '../../identity/suspension.ts'
import type { Db } from '../../platform/db/database.ts'
import { type Page, pageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, isUuid } from '../../platform/kernel/ids.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import type { ConfiguredRuntime, CoreRuntime } from '../../platform/runtime.ts'
import { isSilent } from './limits.ts'
import { type GroupRow, type Sender, type SenderRow, toSender } from './sender.ts'

/**
 * A condition on a row `s` of `senders`: it does not belong to an upload link. A link's Sender is neither a backend nor
 * part of a configuration, and ends with its link.
 */
export const IS_OF_NO_LINK = sql`not exists (select from upload_links l where l.sender_id = s.id)`

/** The tables under the names that shared conditions use. */
export const s = alias(senders, 's')
export const g = alias(senderGroups, 'g')

/** The error names the kind of token that was sent instead. */
export function assertSenderToken(token: string): void {
  if (token.startsWith('sk_')) return
  const given = kindOfToken(token)
  throw new SluiceError(
    'token_invalid',
    given ? `This is ${given}; send a Sender's sk_ token.` : 'A Sender token starts with sk_.',
  )
}

export type KnownSender = Pick<SenderRow, 'id' | 'workspaceId'>

/** The Sender of an `sk_` token. */
export async function authenticateSender(
  { db, clock, config }: ConfiguredRuntime,
  token: string,
): Promise<KnownSender> {
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
export async function findSender(db: Db, actor: Actor, id: string, lock?: 'update'): Promise<SenderRow> {
  const query = db
    .select()
    .from(senders)
    .where(and(eq(senders.id, id), eq(senders.workspaceId, actor.workspaceId)))
  const [row] = isUuid(id) ? await (lock ? query.for(lock) : query) : []
  if (!row) throw new SluiceError('not_found', 'There is no such Sender.')
  return row
}

export async function showSender({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<Sender> {
  const sender = await findSender(db, actor, id)
  const { groupId } = sender
  const [group] = groupId ? await db.select().from(senderGroups).where(eq(senderGroups.id, groupId)) : []
  return toSender(sender, group ?? null, clock.now())
}

export const sendersQuery = pageQuery.extend({
  /** Part of the name. */
  name: z.string().max(100, 'must have at most 100 characters').optional(),
  groupId: z.string().max(100, 'is not the id of a group').optional(),
})
type SendersQuery = z.output<typeof sendersQuery> & { silentFirst?: boolean }

/** Newest first, or with `silentFirst`, those that have been silent for too long first. */
export async function listSenders(
  { db, clock }: CoreRuntime,
  actor: Actor,
  { limit, cursor, name, groupId, silentFirst = false }: SendersQuery,
): Promise<Page<Sender>> {
  const isKey = silentFirst ? (key: string) => /^[01]/.test(key) && isUuid(key.slice(1)) : isUuid
  const before = readCursor(cursor, isKey)
  if (groupId && !isUuid(groupId)) return { data: [], nextCursor: null }
  const silent = silentFirst ? sql`${isSilent(clock.now())}::int` : sql`0`
  const from = before && (silentFirst ? [Number(before[0]), before.slice(1)] : [0, before])
  const found: { s: SenderRow; g: GroupRow | null; silent: unknown }[] = await db
    .select({ s, g, silent })
    .from(s)
    .leftJoin(g, eq(g.id, s.groupId))
    .where(
      and(
        eq(s.workspaceId, actor.workspaceId),
        IS_OF_NO_LINK,
        groupId ? eq(s.groupId, groupId) : undefined,
        name ? sql`strpos(lower(${s.name}), lower(${name})) > 0` : undefined,
        from ? sql`(${silent}, s.id) < (${from[0]}::int, ${from[1]}::uuid)` : undefined,
      ),
    )
    .orderBy(...(silentFirst ? [desc(silent)] : []), desc(s.id))
    .limit(limit + 1)
  return toPage(
    found,
    limit,
    ({ s, g }) => toSender(s, g, clock.now()),
    (row) => (silentFirst ? `${row.silent}${row.s.id}` : row.s.id),
  )
}
