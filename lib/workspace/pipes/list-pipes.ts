import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { pipeDestinations, pipes } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Pipe, toPipe } from './pipe.ts'

/** A Pipe's id is random, so the list goes by time and then by id. */
const isKey = (key: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z pipe_[a-z2-7]{20}$/.test(key)

export async function listPipes(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<Pipe>> {
  const before = readCursor(cursor, isKey)?.split(' ')
  const rows = await db
    .select({ pipe: pipes, dataStoreId: pipeDestinations.dataStoreId })
    .from(pipes)
    .innerJoin(pipeDestinations, eq(pipeDestinations.pipeId, pipes.id))
    .where(
      and(
        eq(pipes.workspaceId, actor.workspaceId),
        isNull(pipes.deletedAt),
        before
          ? sql`(${pipes.createdAt}, ${pipes.id}) < (${before[0]}::timestamptz, ${before[1]}::text)`
          : undefined,
      ),
    )
    .orderBy(desc(pipes.createdAt), desc(pipes.id))
    .limit(limit + 1)
  return toPage(
    rows,
    limit,
    ({ pipe, dataStoreId }) => toPipe(pipe, dataStoreId, config),
    ({ pipe }) => `${pipe.createdAt.toISOString()} ${pipe.id}`,
  )
}
