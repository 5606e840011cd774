import { sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'

/** Undefined if the workspace has no such file. */
export async function readStatus(
  db: Db,
  { fileId, workspaceId }: { fileId: string; workspaceId: string },
): Promise<FileStatus | undefined> {
  const [file] = await rows<{ status: FileStatus }>(
    db,
    sql`select status from files where id = ${fileId}::uuid and workspace_id = ${workspaceId}::uuid`,
  )
  return file?.status
}
