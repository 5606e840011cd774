import { sql } from 'drizzle-orm'
import { byteaParam, type Db, rows } from '../../platform/db/database.ts'
import type { SealedTail } from '../tail-cipher.ts'
import { type Fenced, lostLease } from './lease-terms.ts'

/**
 * Stores bytes of a body whose checksum is not known yet: a tail past the confirmed offset, which counts once `advance` has
 * moved over it. Otherwise the next writer deletes it when it takes the lease, so an expired lease may stage nothing.
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
