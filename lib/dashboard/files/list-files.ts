import { and, desc, eq, gte, inArray, lt, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { FILE_STATUSES, fileDestinations, files } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Page, pageQuery, readCursor, writeCursor } from '../../platform/db/page.ts'
import { isPlainText, timeField } from '../../platform/kernel/fields.ts'
import { firstUuidAt, isPipeId, isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type File, toFile } from './file.ts'
import { listed } from './listed.ts'

/**
 * Newest first. Pipe, status and Sender go along an index; the rest is looked for in a window of the newest rows
 * that remain, so that a page costs the same whatever is asked for. A page may then hold less than its limit and
 * still have a next one.
 */
export const fileQuery = pageQuery.extend({
  status: z.enum(FILE_STATUSES, `must be one of ${FILE_STATUSES.join(', ')}`).optional(),
  /** Under way, but without a byte for five minutes. */
  waiting: z.stringbool('must be true or false').optional(),
  pipeId: z.string().refine(isPipeId, 'must be the id of a Pipe').optional(),
  senderId: z.string().refine(isUuid, 'must be the id of a Sender').optional(),
  /** Part of the filename, in any letter case. */
  filename: z
    .string()
    .min(1)
    .max(255)
    .refine(isPlainText, 'must not have control characters in it')
    .optional(),
  createdAfter: timeField.optional(),
  createdBefore: timeField.optional(),
})
export type FileQuery = z.output<typeof fileQuery>

/** To look at a name takes some microseconds, and a page 20 ms at most. */
const WINDOW = 2500

export async function listFiles(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  query: FileQuery,
): Promise<Page<File>> {
  const { limit } = query
  const rest = alongNoIndex(query)
  const looked = rest ? WINDOW : limit + 1
  const found = await rows<{ id: string; last: boolean }>(
    db,
    sql`with recent as (
      select id, filename, status, pipe_id, coalesce(last_byte_at, created_at) as byte_at from files where ${alongIndex(actor, query)}
      order by id desc limit ${looked}::int
    )
    (select id, false as last from recent where ${rest ?? sql`true`} order by id desc limit ${limit + 1}::int)
    union all (select id, true from recent where (select count(*) from recent) = ${looked}::int order by id limit 1)`,
  )
  const ids = found.filter(({ last }) => !last).map(({ id }) => id)
  const shown = ids.slice(0, limit)
  const data = await readFiles(db, shown)
  // Where the page ends, or where a window that was full does.
  const end = ids.length > limit ? shown.at(-1) : rest && found.find(({ last }) => last)?.id
  return { data, nextCursor: end ? writeCursor(end) : null }
}

function alongIndex(actor: Actor, query: FileQuery): SQL | undefined {
  const { status, pipeId, senderId, createdAfter, createdBefore } = query
  const before = readCursor(query.cursor, isUuid)
  return and(
    eq(files.workspaceId, actor.workspaceId),
    // One of the indexes: by Sender, else by Pipe, each with its status where it holds that too.
    senderId ? eq(files.senderId, senderId) : undefined,
    !senderId && pipeId ? eq(files.pipeId, pipeId) : undefined,
    !senderId && status ? eq(files.status, status) : undefined,
    before ? lt(files.id, before) : undefined,
    createdAfter ? gte(files.id, firstUuidAt(createdAfter.getTime())) : undefined,
    createdBefore ? lt(files.id, firstUuidAt(createdBefore.getTime())) : undefined,
    listed,
  )
}

function alongNoIndex({ senderId, status, pipeId, filename, waiting }: FileQuery): SQL | undefined {
  const conditions: SQL[] = []
  if (filename) conditions.push(sql`filename ilike ${`%${filename.replace(/[\\%_]/g, '\\$&')}%`}`)
  if (waiting !== undefined) conditions.push(sql`${isWaitingRow} = ${waiting}`)
  if (senderId && status) conditions.push(sql`status = ${status}`)
  if (senderId && pipeId) conditions.push(sql`pipe_id = ${pipeId}`)
  return conditions.length > 0 ? sql.join(conditions, sql` and `) : undefined
}

/** As `isWaiting` says of one file. */
const isWaitingRow = sql`(status = 'uploading' and byte_at < now() - interval '5 minutes')`

export async function readFiles(db: Db, ids: string[]): Promise<File[]> {
  if (ids.length === 0) return []
  const [found, destinations] = await Promise.all([
    db.select().from(files).where(inArray(files.id, ids)).orderBy(desc(files.id)),
    db.select().from(fileDestinations).where(inArray(fileDestinations.fileId, ids)),
  ])
  const byFile = Map.groupBy(destinations, ({ fileId }) => fileId)
  return found.map((row) => toFile(row, byFile.get(row.id) ?? []))
}
