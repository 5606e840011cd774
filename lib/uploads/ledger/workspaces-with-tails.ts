import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { tailBytes } from './tail-bytes.ts'

/** The workspaces that have so many bytes of tails, or more. */
export async function workspacesWithTails(db: Db, bytes: number): Promise<string[]> {
  const full = await rows<{ id: string }>(
    db,
    sql`select f.workspace_id as id from upload_tails t join files f on f.id = t.file_id
      group by 1 having sum(${tailBytes}) >= ${bytes}::bigint`,
  )
  return full.map(({ id }) => id)
}
