import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../db/database.ts'

/** The confirmed bytes that only the database holds, in order. */
export async function readTail(db: Db, fileId: string): Promise<Buffer[]> {
  const tails = await rows<{ bytes: Uint8Array }>(
    db,
    sql`select bytes from upload_tails where file_id = ${fileId}::uuid order by offset_bytes`,
  )
  return tails.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}
