import { and, desc, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import { batches, fileDecisions, fileDestinations, files } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { eachPage, type From, readTurn, type TurnedPage, turnPage } from '../../platform/db/page.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { offsetOf } from '../../uploads/ledger/lanes.ts'
import { type File, toFile } from './file.ts'
import { alongIndex, type FileQuery, fits, LOOKED_AT, MAX_COMPARED } from './file-query.ts'

/**
 * How many rows are checked for a page: checking a name takes a few microseconds, and a page may take at most 20 ms.
 */
const WINDOW = 2500

type FoundKeys = { keys: string[]; windowEnd?: string | undefined }

export async function listFiles(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  query: FileQuery,
): Promise<TurnedPage<File>> {
  const bySize = query.order === 'largest' || query.order === 'smallest'
  const from = readTurn(query.cursor, bySize ? isSizedKey : isUuid)
  const find = bySize ? findBySize : findByTime
  const { keys, windowEnd } = await find(db, actor, query, from)
  const { shown, ...cursors } = turnPage(keys, query.limit, from, windowEnd)
  const ids = shown.map(idOf)
  return { data: inOrderOf(ids, await readFiles(db, ids)), ...cursors }
}

async function findByTime(db: Db, actor: Actor, query: FileQuery, { back, key }: From): Promise<FoundKeys> {
  const { limit, order = 'newest' } = query
  const down = (order === 'newest') !== back
  const [along, turned] = down ? [sql`desc`, sql`asc`] : [sql`asc`, sql`desc`]
  const rest = fits(query)
  const looked = rest ? WINDOW : limit + 1
  const found = await rows<{ id: string; last: boolean }>(
    db,
    sql`with recent as (
      select ${LOOKED_AT} from files where ${alongIndex(actor, query, key ? { id: key, down } : undefined)}
      order by id ${along} limit ${looked}::int
    )
    (select id, false as last from recent where ${rest ?? sql`true`} order by id ${along} limit ${limit + 1}::int)
    union all (select id, true from recent where (select count(*) from recent) = ${looked}::int order by id ${turned} limit 1)`,
  )
  return {
    keys: found.filter(({ last }) => !last).map(({ id }) => id),
    windowEnd: rest && found.find(({ last }) => last)?.id,
  }
}

/** Pages are keyed by a size and an id, such as `1000.019a…`. */
async function findBySize(db: Db, actor: Actor, query: FileQuery, { back, key }: From): Promise<FoundKeys> {
  const down = (query.order === 'largest') !== back
  const [along, beyond] = down ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`]
  const conditions: SQL[] = [fits(query) ?? sql`true`]
  if (key) conditions.push(sql`(size, id) ${beyond} (${key.split('.')[0]}::bigint, ${idOf(key)}::uuid)`)
  const found = await rows<{ key: string }>(
    db,
    sql`with recent as (
      select ${LOOKED_AT} from files where ${alongIndex(actor, query)} order by id desc limit ${MAX_COMPARED}::int
    )
    select size || '.' || id as key from recent where ${sql.join(conditions, sql` and `)}
    order by size ${along}, id ${along} limit ${query.limit + 1}::int`,
  )
  return { keys: found.map((row) => row.key) }
}

const isSizedKey = (key: string) => /^\d{1,16}\./.test(key) && isUuid(idOf(key))
const idOf = (key: string) => key.slice(key.indexOf('.') + 1)

function inOrderOf(ids: string[], found: File[]): File[] {
  const byId = new Map(found.map((file) => [file.id, file]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** A row of `files`, with the figures of all lanes. */
export const FILE_COLUMNS = {
  ...getTableColumns(files),
  offsetBytes: sql<number>`${offsetOf(sql`files`)}`.mapWith(files.offsetBytes),
}

export async function readFiles(db: Db, ids: string[]): Promise<File[]> {
  if (ids.length === 0) return []
  const [found, destinations] = await Promise.all([
    db.select(FILE_COLUMNS).from(files).where(inArray(files.id, ids)).orderBy(desc(files.id)),
    db.select().from(fileDestinations).where(inArray(fileDestinations.fileId, ids)),
  ])
  const byFile = Map.groupBy(destinations, ({ fileId }) => fileId)
  const decisions = await readDecisions(db, found)
  const names = await readBatchNames(db, found)
  return found.map((row) =>
    toFile(row, byFile.get(row.id) ?? [], decisions.get(row.id), names.get(row.batchId ?? '')),
  )
}

/** Decisions of the `before_complete` hook. Most files have none, and need no query. */
export async function readDecisions(
  db: Db,
  found: readonly (typeof files.$inferSelect)[],
): Promise<ReadonlyMap<string, typeof fileDecisions.$inferSelect>> {
  const ids = found.filter(({ decision }) => decision !== null).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const decided = await db
    .select()
    .from(fileDecisions)
    .where(and(inArray(fileDecisions.fileId, ids), eq(fileDecisions.hook, 'before_complete')))
  return new Map(decided.map((decision) => [decision.fileId, decision]))
}

/** Most files are not in a batch, and need no query. */
export async function readBatchNames(
  db: Db,
  found: readonly Pick<typeof files.$inferSelect, 'batchId'>[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(found.flatMap(({ batchId }) => batchId ?? []))]
  if (ids.length === 0) return new Map()
  const named = await db
    .select({ id: batches.id, name: batches.name })
    .from(batches)
    .where(inArray(batches.id, ids))
  return new Map(named.map(({ id, name }) => [id, name]))
}

const AT_ONCE = 500

/** All matching files, for an export. They are sorted by time, because sorting by size is limited. */
export function eachFile(runtime: Pick<Runtime, 'db'>, actor: Actor, query: FileQuery) {
  const order = query.order === 'oldest' ? 'oldest' : 'newest'
  return eachPage((cursor) => listFiles(runtime, actor, { ...query, order, cursor, limit: AT_ONCE }))
}

/**
 * How many files match, and their total size. Canceled uploads are counted separately, unless their status was asked
 * for. If there are too many to check, only the newest `ofNewest` are included.
 */
export type FileTotals = { files: number; bytes: number; canceled: number; ofNewest: number | null }

export async function countFiles(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  query: FileQuery,
): Promise<FileTotals> {
  const isCounted = query.status ? sql`true` : sql`status <> 'canceled'`
  const [found] = await rows<Omit<FileTotals, 'ofNewest'> & { looked: number }>(
    db,
    sql`with recent as (
      select ${LOOKED_AT} from files where ${alongIndex(actor, query)} order by id desc limit ${MAX_COMPARED}::int
    )
    select (count(*) filter (where fit and counted))::int as files, (count(*) filter (where fit and not counted))::int as canceled,
      coalesce(sum(size) filter (where fit and counted), 0)::float8 as bytes, count(*)::int as looked
    from (select size, ${fits(query) ?? sql`true`} as fit, ${isCounted} as counted from recent) one`,
  )
  const { looked, ...totals } = found!
  return { ...totals, ofNewest: looked === MAX_COMPARED ? MAX_COMPARED : null }
}
