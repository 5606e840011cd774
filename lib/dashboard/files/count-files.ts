import { sql } from 'drizzle-orm'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { alongIndex, type FileQuery, fits, LOOKED_AT, MAX_COMPARED } from './file-query.ts'

/** How many files fit and how large they are together; where there are too many to look at, of the newest of them. */
export type FileTotals = { files: number; bytes: number; ofNewest: number | null }

export async function countFiles(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  query: FileQuery,
): Promise<FileTotals> {
  const [found] = await rows<{ files: number; bytes: number; looked: number }>(
    db,
    sql`with recent as (
      select ${LOOKED_AT} from files where ${alongIndex(actor, query)} order by id desc limit ${MAX_COMPARED}::int
    )
    select (count(*) filter (where ${fits(query) ?? sql`true`}))::int as files, count(*)::int as looked,
      coalesce(sum(size) filter (where ${fits(query) ?? sql`true`}), 0)::float8 as bytes from recent`,
  )
  const { files, bytes, looked } = found!
  return { files, bytes, ofNewest: looked === MAX_COMPARED ? MAX_COMPARED : null }
}
