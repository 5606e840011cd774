import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'

/** What the drawing of an upload shows in addition to its timeline. */
export type ReplayFacts = {
  /** The last request that wrote to the upload. */
  lastRequestId: string | null
  /** The ranges of a file that arrives over several connections, in order; none for other files. */
  lanes: { lengthBytes: number; offsetBytes: number; firstByteAt: string | null; lastByteAt: string | null }[]
}

export async function readReplay(db: Db, fileId: string): Promise<ReplayFacts> {
  const [found] = await rows<ReplayFacts>(
    db,
    sql`select f.last_request_id as "lastRequestId", (
        select coalesce(json_agg(json_build_object('lengthBytes', lane.length_bytes, 'offsetBytes', lane.offset_bytes,
          'firstByteAt', lane.first_byte_at, 'lastByteAt', lane.last_byte_at) order by lane.first_byte), '[]')
        from files lane where lane.id = any(f.lanes)
      ) as lanes
      from files f where f.id = ${fileId}::uuid`,
  )
  return found!
}
