import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { NewUpload } from './insert-upload.ts'

/** The common clients send a file in two to eight pieces. */
const PARTIALS_PER_FILE = 8

/**
 * A token may have as many partial uploads open as the files that it may create need, and as many bytes in them. A partial
 * upload of unknown length counts as the largest that it may become.
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
      ? `It may have ${mostFiles} partial uploads that are part of no file yet. Join some of them, or delete them.`
      : `Its partial uploads that are part of no file yet may have ${mostBytes} bytes. Join some of them, or delete them.`,
  )
}
