import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../db/database.ts'

/** The bytes of a stretch that only the database holds, in order; without one, of the whole file. */
export async function readTail(
  db: Db,
  fileId: string,
  { fromBytes, toBytes }: { fromBytes: number; toBytes: number } = { fromBytes: 0, toBytes: 2 ** 52 },
): Promise<Buffer[]> {
  const tails = await rows<{ bytes: Uint8Array }>(
    db,
    sql`select bytes from upload_tails where file_id = ${fileId}::uuid
      and offset_bytes >= ${fromBytes}::bigint and offset_bytes < ${toBytes}::bigint order by offset_bytes`,
  )
  return tails.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}
