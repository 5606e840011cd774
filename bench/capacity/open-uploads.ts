import { sql } from 'drizzle-orm'
import type { Db } from '#lib/platform/db/database.ts'
import type { Fenced } from '#lib/uploads/ledger/lease-terms.ts'

/** The tables that have rows for an unfinished upload. */
const TABLES = ['files', 'file_destinations', 'file_parts', 'file_timeline']
const BATCH = 250_000

type Owner = { workspaceId: string; pipeId: string; senderId: string; dataStoreId: string }

/** Adds uploads until there are `to`. Each has its first part and a writer. */
export async function addOpenUploads(db: Db, owner: Owner, from: number, to: number): Promise<void> {
  for (let first = from + 1; first <= to; first += BATCH) {
    const series = sql`generate_series(${first}::int, ${Math.min(first + BATCH - 1, to)}::int) n`
    await db.transaction(async (tx) => {
      // Keeps triggers from running for these inserts.
      await tx.execute(sql`set local session_replication_role = replica`)
      for (const insert of insertsOf(owner, series)) await tx.execute(insert)
    })
  }
  for (const table of TABLES) await db.execute(sql`vacuum analyze ${sql.identifier(table)}`)
}

const idOf = (n: ReturnType<typeof sql>) =>
  sql`('01900000-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`
const ID = idOf(sql`n`)

function insertsOf({ workspaceId, pipeId, senderId, dataStoreId }: Owner, series: ReturnType<typeof sql>) {
  return [
    sql`insert into files (id, workspace_id, pipe_id, sender_id, sender_name, filename, status, length_bytes, offset_bytes,
        counted_bytes, recorded_parts, recorded_bytes, expiry_seconds, expires_at, first_byte_at, last_byte_at,
        lease_holder, lease_fence, lease_until)
      select ${ID}, ${workspaceId}, ${pipeId}, ${senderId}, 'Backend', 'film ' || n || '.bin', 'uploading', 200000000, 8388608,
        8388608, 1, 8388608, 604800, now() + interval '7 days', now(), now(), 'holder', 1, now() + interval '15 seconds'
      from ${series}`,
    sql`insert into file_destinations (file_id, data_store_id, bucket, key, status)
      select ${ID}, ${dataStoreId}, 'media', 'folder/' || n, 'pending' from ${series}`,
    sql`insert into file_parts (file_id, number, offset_bytes, size_bytes, etags, crc32)
      select ${ID}, 1, 0, 8388608, '{etag}', 7 from ${series}`,
    sql`insert into file_timeline (id, file_id, kind, at) select ${ID}, ${ID}, 'created', now() from ${series}`,
  ]
}

/** Returns the leases of `count` uploads, starting with upload `first`. */
export function leasesOf(first: number, count: number): Fenced[] {
  const id = (n: number) => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
  return Array.from({ length: count }, (_, at) => ({ rowId: id(first + at), fence: 1, claim: 'holder' }))
}

/** Makes the first `count` uploads expire, without a writer. */
export async function giveUp(db: Db, count: number): Promise<void> {
  await db.execute(sql`update files set expires_at = now() - interval '1 minute', lease_until = null
    where id <= ${idOf(sql`${count}::int`)}`)
}
