import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'

export type LaneProgress = { lengthBytes: number; offsetBytes: number }

/** The lanes of a file that arrives over several connections, in order; none for other files. */
export function readLaneProgress(db: Db, fileId: string): Promise<LaneProgress[]> {
  return rows(
    db,
    sql`select lane.length_bytes as "lengthBytes", lane.offset_bytes as "offsetBytes"
      from files f join files lane on lane.id = any(f.lanes) where f.id = ${fileId}::uuid order by lane.first_byte`,
  )
}
