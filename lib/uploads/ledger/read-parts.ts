import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { SentPart } from '../bucket-port.ts'

/** The parts of the object, in order. */
export function readParts(db: Db, fileId: string): Promise<SentPart[]> {
  return rows<SentPart>(
    db,
    sql`select number, etag, crc32 from file_parts where file_id = ${fileId}::uuid order by number`,
  )
}
