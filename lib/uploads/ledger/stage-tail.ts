import { sql } from 'drizzle-orm'
import { byteaParam, type Db, rows } from '../../platform/db/database.ts'
import type { SealedTail } from '../rules/tail-cipher.ts'
import { type Fenced, lostLease } from './lease-terms.ts'

/**
 * Stores bytes of a body whose checksum has not been verified, as a tail past the confirmed offset. They count once
 * `advance` has moved the offset over them; otherwise they are deleted when the lease is next taken. So they must not
 * be stored after the lease has expired.
 */
export async function stageTail(
  db: Db,
  { fileId, fence }: Fenced,
  { offsetBytes, tail }: { offsetBytes: number; tail: SealedTail },
): Promise<void> {
  const staged = await rows(
    db,
    sql`
    with writer as (
      select id from files where id = ${fileId}::uuid and lease_fence = ${fence}::int and lease_until > now()
        and status = 'uploading' for update
    )
    insert into upload_tails (file_id, offset_bytes, key, bytes)
    select id, ${offsetBytes}::bigint, ${tail.key}, ${byteaParam(tail.bytes)} from writer returning file_id`,
  )
  if (staged.length === 0) throw lostLease()
}
