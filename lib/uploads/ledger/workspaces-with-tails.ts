import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { tailBytes } from './tail-bytes.ts'

/**
 * The workspaces with at least this many bytes of tails. If the whole table is smaller than that, there can be none,
 * and no row is read.
 */
export async function workspacesWithTails(db: Db, bytes: number): Promise<string[]> {
  const full = await rows<{ id: string }>(
    db,
    sql`select (select workspace_id from files where id = t.file_id) as id
      from (
        select file_id, sum(${tailBytes}) as bytes from upload_tails
        where (select pg_table_size('upload_tails')) >= ${bytes}::bigint group by 1
      ) t
      group by 1 having sum(t.bytes) >= ${bytes}::bigint`,
  )
  return full.map(({ id }) => id)
}
