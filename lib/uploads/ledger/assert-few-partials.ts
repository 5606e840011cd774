import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { NewUpload } from './insert-upload.ts'

/** Common clients send a file in two to eight pieces. */
const PARTIALS_PER_FILE = 8

/**
 * Limits the partial uploads of a token, and their bytes, to what the files it may create can need. A partial upload of
 * unknown length counts as the largest that the token allows.
 */
export async function assertFewPartials(
  tx: Db,
  { tokenId, maxFiles, maxBytes }: Pick<NewUpload, 'tokenId' | 'maxFiles' | 'maxBytes'>,
  nowMs: number,
): Promise<void> {
  const [open] = await rows<{ count: number; bytes: number }>(
    tx,
    sql`select count(*)::int as count, coalesce(sum(coalesce(length_bytes, ${maxBytes}::bigint, 0)), 0)::bigint as bytes
      from files where concat = 'partial' and retired_at is null and token_id = ${tokenId}::uuid
        and expires_at > ${new Date(nowMs).toISOString()}::timestamptz
        and status in ('uploading', 'transferring', 'transferred')`,
  )
  const { count, bytes } = open!
  const mostFiles = maxFiles! * PARTIALS_PER_FILE
  const mostBytes = maxBytes === null ? Infinity : maxFiles! * maxBytes
  if (count <= mostFiles && bytes <= mostBytes) return
  throw new SluiceError(
    'token_exhausted',
    count > mostFiles
      ? `It allows ${mostFiles} partial uploads that have not been joined. Join or delete some of them.`
      : `It allows ${mostBytes} bytes in partial uploads that have not been joined. Join or delete some of them.`,
  )
}
