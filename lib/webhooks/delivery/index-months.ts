import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { monthsOf } from '../../platform/db/months.ts'

const SUFFIX = 'by_output'

/**
 * The log of one output goes by an index. PostgreSQL cannot build one on a table of months while others write to it, so each
 * month gets its own, beside its writers: the present one when it is first seen here, each later one while it is empty.
 */
export async function indexMonths(db: Db): Promise<number> {
  let built = 0
  for (const month of [...(await monthsOf(db, 'deliveries')), 'default']) {
    const table = `deliveries_${month}`
    const name = `${table}_${SUFFIX}`
    const [index] = await rows<{ valid: boolean; building: boolean }>(
      db,
      sql`select indisvalid as valid, exists (select from pg_stat_progress_create_index p
        where p.index_relid = indexrelid) as building
      from pg_index join pg_class on pg_class.oid = indexrelid where relname = ${name}`,
    )
    if (index?.valid || index?.building) continue
    // One that a crash has cut short is of no use.
    if (index) await db.execute(sql`drop index concurrently if exists ${sql.identifier(name)}`)
    await db.execute(
      sql`create index concurrently if not exists ${sql.identifier(name)} on ${sql.identifier(table)} (webhook_output_id, id)`,
    )
    built += 1
  }
  return built
}
