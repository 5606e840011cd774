import { sql } from 'drizzle-orm'
import { byteaParam, type Db, rows } from '../../platform/db/database.ts'
import { SEAL_BYTES, type SealedTail, type TailCipher } from '../rules/tail-cipher.ts'
import { type Fenced, heldBy, lostLease } from './lease-terms.ts'

/**
 * Tails: bytes that are only in the database, encrypted. `advance` records confirmed tails, and deletes them when it
 * records a part that contains them.
 */

/** How many of a file's bytes a row of `upload_tails` contains. */
export const tailBytes = sql`(octet_length(bytes) - ${sql.raw(String(SEAL_BYTES))})`

/**
 * Stores bytes of a body whose checksum has not been verified, as a tail past the confirmed offset. They become
 * confirmed when `advance` moves the offset over them; otherwise they are deleted when the lease is next taken. They
 * must therefore not be stored after the lease has expired.
 */
export async function stageTail(
  db: Db,
  lease: Fenced,
  { offsetBytes, tail }: { offsetBytes: number; tail: SealedTail },
): Promise<void> {
  const staged = await rows(
    db,
    sql`
    with writer as (
      select id from files where id = ${lease.rowId}::uuid and ${heldBy(lease)} and lease_until > now()
        and status = 'uploading' for update
    )
    insert into upload_tails (file_id, offset_bytes, key, bytes)
    select id, ${offsetBytes}::bigint, ${tail.key}, ${byteaParam(tail.bytes)} from writer returning file_id`,
  )
  if (staged.length === 0) throw lostLease()
}

/** The bytes of a range that are only in the database, in order. Defaults to the entire file. */
export async function readTail(
  { db, tailCipher }: { db: Db; tailCipher: TailCipher },
  fileId: string,
  { fromBytes, toBytes }: { fromBytes: number; toBytes: number } = { fromBytes: 0, toBytes: 2 ** 52 },
): Promise<Buffer[]> {
  const found = await rows<{ offsetBytes: number; key: string; bytes: Uint8Array }>(
    db,
    sql`select offset_bytes as "offsetBytes", key, bytes from upload_tails where file_id = ${fileId}::uuid
      and offset_bytes >= ${fromBytes}::bigint and offset_bytes < ${toBytes}::bigint order by offset_bytes`,
  )
  const open = tailCipher.opener(fileId)
  return found.map(({ bytes, ...tail }) =>
    open({ ...tail, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) }),
  )
}

/**
 * How many tail bytes each workspace has. If the entire table is smaller than `fromBytes`, no workspace is near a
 * limit, and no row is read.
 */
export async function tailsOfWorkspaces(
  db: Db,
  { fromBytes }: { fromBytes: number },
): Promise<{ workspaceId: string; bytes: number }[]> {
  return rows(
    db,
    sql`select workspace_id as "workspaceId", sum(t.bytes)::float8 as bytes
      from (
        select file_id, sum(${tailBytes}) as bytes from upload_tails
        where (select pg_table_size('upload_tails')) >= ${fromBytes}::bigint group by 1
      ) t
      join files f on f.id = t.file_id
      group by 1`,
  )
}
