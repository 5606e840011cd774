import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'

/**
 * The person whose share a workspace uses wherever something is shared among customers: its first owner. Otherwise, a
 * person with 64 workspaces would have 64 shares. A workspace without an owner, which will be removed, counts on its own.
 * The name of a column must include its table, since `workspace_id` alone would be the one in `members`.
 */
export function ownerOf(workspaceId: SQL): SQL {
  return sql`coalesce((select o.user_id from members o where o.workspace_id = ${workspaceId} and o.role = 'owner'
    order by o.created_at, o.user_id limit 1), ${workspaceId})`
}

export async function readOwner(db: Db, workspaceId: string): Promise<string> {
  const [found] = await rows<{ owner: string }>(
    db,
    sql`select ${ownerOf(sql`${workspaceId}::uuid`)} as owner`,
  )
  return found!.owner
}
