import { sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'

export async function currentOffset(
  db: Db,
  fileId: string,
): Promise<{ offsetBytes: number; status: FileStatus } | undefined> {
  const [row] = await rows<{ offsetBytes: number; status: FileStatus }>(
    db,
    sql`select offset_bytes as "offsetBytes", status from files where id = ${fileId}::uuid`,
  )
  return row
}
