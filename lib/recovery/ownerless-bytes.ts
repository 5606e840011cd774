import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import type { Logger } from '../platform/log/log.ts'

/** How many files are looked at in one run. */
const PAGE = 100
const FIRST = '00000000-0000-0000-0000-000000000000'
const TABLES = ['upload_tails', 'file_parts'] as const

/** Logged if there were any, because that is a bug. */
export const OWNERLESS = 'deleted bytes without an upload'

/**
 * Returns a sweep that deletes tails and parts of files that have ended. The statement that ends a file deletes its
 * bytes; any that it missed would count against the workspace's tails for good. Each run continues where the previous
 * one stopped.
 */
export function deletesOwnerlessBytes({ db, log }: { db: Db; log: Logger }): () => Promise<number> {
  const after = { upload_tails: FIRST, file_parts: FIRST }
  return async () => {
    let deleted = 0
    for (const table of TABLES) {
      const page = await deletePage(db, sql.raw(table), after[table])
      after[table] = page.last ?? FIRST
      deleted += page.deleted
    }
    if (deleted > 0) log.warn({ deleted }, OWNERLESS)
    return deleted
  }
}

/** Goes from file to file, because a file may have thousands of rows. `last` is null once no files are left. */
async function deletePage(
  db: Db,
  table: SQL,
  after: string,
): Promise<{ deleted: number; last: string | null }> {
  const [page] = await rows<{ deleted: number; last: string | null }>(
    db,
    sql`
    with recursive owner as (
      (select file_id, 1 as n from ${table} where file_id > ${after}::uuid order by file_id limit 1)
      union all
      select (select t.file_id from ${table} t where t.file_id > owner.file_id order by t.file_id limit 1), n + 1
      from owner where owner.file_id is not null and n < ${PAGE}::int
    ), deleted as (
      delete from ${table} t using owner join files f on f.id = owner.file_id
      where t.file_id = f.id and f.status not in ('uploading', 'transferring') returning 1
    )
    select (select count(*)::int from deleted) as deleted, (select file_id from owner where n = ${PAGE}::int) as last`,
  )
  return page!
}
