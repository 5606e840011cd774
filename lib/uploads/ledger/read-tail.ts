import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { TailCipher } from '../rules/tail-cipher.ts'

/** The bytes of a range that are in the database only, in order. By default, of the whole file. */
export async function readTail(
  { db, tailCipher }: { db: Db; tailCipher: TailCipher },
  fileId: string,
  { fromBytes, toBytes }: { fromBytes: number; toBytes: number } = { fromBytes: 0, toBytes: 2 ** 52 },
): Promise<Buffer[]> {
  const found = await rows<{ offsetBytes: number; key: string | null; bytes: Uint8Array }>(
    db,
    sql`select offset_bytes as "offsetBytes", key, bytes from upload_tails where file_id = ${fileId}::uuid
      and offset_bytes >= ${fromBytes}::bigint and offset_bytes < ${toBytes}::bigint order by offset_bytes`,
  )
  const open = tailCipher.opener(fileId)
  return found.map(({ bytes, ...tail }) =>
    open({ ...tail, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) }),
  )
}
