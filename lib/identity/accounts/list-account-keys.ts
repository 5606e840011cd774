import { and, desc, eq, lt } from 'drizzle-orm'
import { accountKeys } from '#drizzle/schema/index.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Actor } from '../audit/record-audit.ts'
import { type AccountKey, toAccountKey } from './account-key.ts'

export async function listAccountKeys(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<AccountKey>> {
  const before = readCursor(cursor, isUuid)
  const rows = await db
    .select()
    .from(accountKeys)
    .where(
      and(eq(accountKeys.workspaceId, actor.workspaceId), before ? lt(accountKeys.id, before) : undefined),
    )
    .orderBy(desc(accountKeys.id))
    .limit(limit + 1)
  return toPage(rows, limit, toAccountKey, (row) => row.id)
}
