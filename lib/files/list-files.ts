import { and, desc, eq, gte, ilike, inArray, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { FILE_STATUSES, fileDestinations, files } from '#drizzle/schema/index.ts'
import type { Actor } from '../audit/record-audit.ts'
import type { Db } from '../db/database.ts'
import { type Page, pageQuery, readCursor, writeCursor } from '../db/page.ts'
import { isPlainText, timeField } from '../kernel/fields.ts'
import { firstUuidAt, isPipeId, isUuid } from '../kernel/ids.ts'
import type { Runtime } from '../runtime.ts'
import { type File, toFile } from './file.ts'

/**
 * Newest first. Pipe, status and Sender go along an index; the rest is looked for in a window of the newest rows
 * that remain, so that a page costs the same whatever is asked for. A page may then hold less than its limit and
 * still have a next one.
 */
export const fileQuery = pageQuery.extend({
  status: z.enum(FILE_STATUSES, `must be one of ${FILE_STATUSES.join(', ')}`).optional(),
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

const WINDOW = 10_000

export async function listFiles(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  query: FileQuery,
): Promise<Page<File>> {
  const { limit } = query
  const rest = alongNoIndex(query)
  const window = db
    .select({ id: files.id, filename: files.filename, status: files.status, pipeId: files.pipeId })
    .from(files)
    .where(alongIndex(actor, query))
    .orderBy(desc(files.id))
    .limit(rest ? WINDOW : limit + 1)
    .as('window')
  const found = await db
    .select({ id: window.id })
    .from(window)
    .where(rest?.(window))
    .orderBy(desc(window.id))
    .limit(limit + 1)
  const shown = found.slice(0, limit).map(({ id }) => id)
  const data = await readFiles(db, shown)
  if (found.length > limit) return { data, nextCursor: writeCursor(shown.at(-1)!) }
  return { data, nextCursor: rest ? await endOfWindow(db, actor, query) : null }
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
    isNull(files.erasedAt),
    // Contract, section 5: partial uploads are not listed.
    sql`${files.concat} is distinct from 'partial'`,
  )
}

type Columns = Record<'filename' | 'status' | 'pipeId', AnyPgColumn>

function alongNoIndex({ senderId, status, pipeId, filename }: FileQuery) {
  const bySender = senderId !== undefined && (status !== undefined || pipeId !== undefined)
  if (filename === undefined && !bySender) return undefined
  const pattern = `%${filename?.replace(/[\\%_]/g, '\\$&')}%`
  return (window: Columns) =>
    and(
      filename === undefined ? undefined : ilike(window.filename, pattern),
      senderId && status ? eq(window.status, status) : undefined,
      senderId && pipeId ? eq(window.pipeId, pipeId) : undefined,
    )
}

/** Where to look on, if the window was full. */
async function endOfWindow(db: Db, actor: Actor, query: FileQuery): Promise<string | null> {
  const [last] = await db
    .select({ id: files.id })
    .from(files)
    .where(alongIndex(actor, query))
    .orderBy(desc(files.id))
    .offset(WINDOW - 1)
    .limit(1)
  return last ? writeCursor(last.id) : null
}

export async function readFiles(db: Db, ids: string[]): Promise<File[]> {
  if (ids.length === 0) return []
  const [rows, destinations] = await Promise.all([
    db.select().from(files).where(inArray(files.id, ids)).orderBy(desc(files.id)),
    db.select().from(fileDestinations).where(inArray(fileDestinations.fileId, ids)),
  ])
  const byFile = Map.groupBy(destinations, ({ fileId }) => fileId)
  return rows.map((row) => toFile(row, byFile.get(row.id) ?? []))
}
