import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '#lib/platform/db/database.ts'

/** The tables that grow with use, and that no statement of a request may go through. */
export const GROWING = [
  ...['files', 'file_destinations', 'file_parts', 'file_timeline', 'upload_tails', 'tokens'],
  ...['events', 'deliveries', 'attempts'],
]

/** Whose rows half of all are; the other half belongs to a hundred others. */
export type Tenant = { workspaceId: string; dataStoreId: string; pipeIds: string[]; senderId: string }

const BATCH = 1_000_000
/** Between two rows: a hundred million of them are two weeks. */
const STEP_MS = 12
const END_MS = Date.now()
const MOST = 100_000_000

/**
 * Adds files until there are so many: one in ten is an open upload, one of those has a tail, and each other one has an event, its
 * delivery and an attempt, so that these are nearly three times as many. Ids are in the order of time.
 */
export async function growTo(db: Db, tenant: Tenant, from: number, to: number): Promise<void> {
  for (let first = from + 1; first <= to; first += BATCH) {
    const series = sql`generate_series(${first}::int, ${Math.min(first + BATCH - 1, to)}::int) n`
    await db.transaction(async (tx) => {
      // No trigger has anything to say of these.
      await tx.execute(sql`set local session_replication_role = replica`)
      for (const insert of insertsOf(tenant, series)) await tx.execute(insert)
    })
  }
  for (const table of GROWING) await db.execute(sql`vacuum analyze ${sql.identifier(table)}`)
}

const timeOf = sql`to_timestamp((${END_MS}::bigint - (${MOST}::bigint - n) * ${STEP_MS}::int) / 1000.0)`
const idOf = (
  salt: string,
) => sql`(lpad(to_hex(${END_MS}::bigint - (${MOST}::bigint - n) * ${STEP_MS}::int), 12, '0')
  || '7' || substr(md5(n::text || ${salt}), 1, 3) || '8' || substr(md5(${salt} || n::text), 1, 15))::uuid`
/** Of the nth row: the tenant's own, or that of one of the others. */
const isOurs = sql`n % 2 = 0`
const other = (what: string) => sql`md5(${what} || n % 100)::uuid`
const isOpen = sql`n % 10 < 2 and n / 10 % 2 = 0`

function insertsOf({ workspaceId, dataStoreId, pipeIds, senderId }: Tenant, series: SQL): SQL[] {
  const workspace = sql`case when ${isOurs} then ${workspaceId}::uuid else ${other('workspace')} end`
  const pipe = sql`case when ${isOurs} then (${sql.param(`{${pipeIds.join(',')}}`)}::text[])[1 + n / 2 % ${pipeIds.length}::int]
    else 'pipe_' || substr(md5('pipe' || n % 100), 1, 20) end`
  const sender = sql`case when ${isOurs} then ${senderId}::uuid else ${other('sender')} end`
  const ended = sql`${series} where not (${isOpen})`
  const open = sql`${series} where ${isOpen}`
  return [
    sql`insert into files (id, workspace_id, pipe_id, sender_id, sender_name, filename, status, length_bytes, offset_bytes,
        counted_bytes, recorded_parts, recorded_bytes, expiry_seconds, expires_at, first_byte_at, last_byte_at, finished_at, created_at)
      select ${idOf('file')}, ${workspace}, ${pipe}, ${sender}, 'Backend',
        case when n % 3 = 0 then 'photo ' else 'film ' end || n || '.bin',
        case when ${isOpen} then 'uploading' when n % 1000 in (6, 7) then 'failed' else 'transferred' end, 20000000,
        case when ${isOpen} then 8388608 + 1000 else 20000000 end, case when ${isOpen} then 8388608 + 1000 else 20000000 end,
        1, 8388608, 604800, now() + interval '7 days', ${timeOf}, ${timeOf}, case when not (${isOpen}) then ${timeOf} end, ${timeOf}
      from ${series}`,
    sql`insert into file_destinations (file_id, data_store_id, bucket, key, status)
      select ${idOf('file')}, case when ${isOurs} then ${dataStoreId}::uuid else ${other('store')} end, 'media', 'folder/' || n,
        case when ${isOpen} then 'pending' else 'transferred' end from ${series}`,
    sql`insert into file_timeline (id, file_id, kind, at) select ${idOf('line')}, ${idOf('file')}, 'created', ${timeOf} from ${series}`,
    sql`insert into file_parts (file_id, number, offset_bytes, size_bytes, etag, crc32)
      select ${idOf('file')}, 1, 0, 8388608, 'etag', 7 from ${open}`,
    sql`insert into upload_tails (file_id, offset_bytes, bytes)
      select ${idOf('file')}, 8388608, decode(repeat('00', 1000), 'hex') from ${open} and n % 100 < 2`,
    sql`insert into tokens (id, workspace_id, pipe_id, sender_id, token_hash, expires_at, created_at)
      select ${idOf('token')}, ${workspace}, ${pipe}, ${sender}, md5('token' || n), now() + interval '1 hour', ${timeOf} from ${series}`,
    sql`insert into events (id, workspace_id, pipe_id, file_id, payload, created_at)
      select ${idOf('event')}, ${workspace}, ${pipe}, ${idOf('file')}, '{"event":"file.status_changed"}', ${timeOf} from ${ended}`,
    sql`insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, webhook_output_id, url, state, attempt_count,
        next_attempt_at, last_status, created_at)
      select ${idOf('delivery')}, ${workspace}, ${idOf('event')}, ${pipe}, ${idOf('file')}, ${other('output')}, 'https://shop.example.com/hooks',
        case when n % 1000 = 2 then 'pending' when n % 1000 = 4 then 'failed' else 'delivered' end, 1,
        case when n % 1000 = 2 then now() + interval '1 hour' end, 200, ${timeOf} from ${ended}`,
    sql`insert into attempts (id, delivery_id, trigger, at, duration_ms, url, request_headers, status)
      select ${idOf('attempt')}, ${idOf('delivery')}, 'auto', ${timeOf}, 80, 'https://shop.example.com/hooks', '{}', 200 from ${ended}`,
  ]
}

/** The id of a row of the tenant deep inside, for pages in the middle of a list. */
export async function middleOf(db: Db, table: 'files' | 'deliveries', size: number): Promise<string> {
  const n = sql`(select ${Math.floor(size / 2)}::int / 20 * 20 + 14 as n) middle`
  const id = table === 'files' ? idOf('file') : idOf('delivery')
  const [row] = [...((await db.execute(sql`select ${id} as id from ${n}`)) as unknown as { id: string }[])]
  return row!.id
}
