import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '#lib/platform/db/database.ts'
import { keepMonths, monthsOf } from '#lib/platform/db/months.ts'
import { days } from '#lib/platform/kernel/clock.ts'
import { firstUuidAt } from '#lib/platform/kernel/ids.ts'
import { TIMELINES } from '#lib/recovery/upload-sweeps.ts'
import { EVENTS } from '#lib/webhooks/delivery/sweeps.ts'

/** The tables that grow with use. No statement in a request may scan them. */
export const GROWING = [
  ...['files', 'file_destinations', 'file_parts', 'file_timeline', 'upload_tails', 'tokens'],
  ...['events', 'deliveries', 'attempts'],
]

/** The owner of half of all rows; the other half belongs to a hundred other tenants. */
export type Tenant = { workspaceId: string; dataStoreId: string; pipeIds: string[]; senderId: string }

const BATCH = 1_000_000
/** The period over which files arrived, which is shorter than the retention period of events. */
const SPAN_MS = days(29)
const END_MS = Date.now()

/**
 * Creates the monthly partitions of a year, as after a year of use. Otherwise, the migration's first month would
 * contain everything.
 */
export async function makeMonths(db: Db): Promise<void> {
  for (const kept of [EVENTS, TIMELINES]) {
    for (const table of kept.tables) {
      const [first] = await monthsOf(db, table)
      await db.execute(sql`drop table ${sql.identifier(`${table}_${first}`)}`)
    }
    await keepMonths(db, kept, END_MS - days(364))
    await keepMonths(db, kept, END_MS)
  }
}

/**
 * Adds files until there are `to`. One in ten is an open upload, and one in ten of those has a tail. All others have an
 * event, a delivery and an attempt, so there are nearly three times as many of these rows as files. One file in ten
 * still has a token. Ids are in time order, and each call spreads its files over the same period.
 */
export async function growTo(db: Db, tenant: Tenant, from: number, to: number): Promise<void> {
  const indexes = await dropIndexes(db)
  const rowsOf = inTime(from, to)
  for (let first = from + 1; first <= to; first += BATCH) {
    const series = sql`generate_series(${first}::int, ${Math.min(first + BATCH - 1, to)}::int) n`
    await db.transaction(async (tx) => {
      // Keeps triggers from running for these inserts.
      await tx.execute(sql`set local session_replication_role = replica`)
      for (const insert of insertsOf(tenant, series, rowsOf)) await tx.execute(insert)
    })
  }
  for (const index of indexes) await db.execute(sql.raw(index))
  for (const table of await partsOf(db)) await db.execute(sql`vacuum analyze ${sql.identifier(table)}`)
}

export async function diskBytes(db: Db): Promise<number> {
  const [row] = await rows<{ bytes: string }>(
    db,
    sql`select pg_database_size(current_database())::text as bytes`,
  )
  return Number(row!.bytes)
}

/**
 * Drops the months of all events, as if their retention period were over and nothing were pending. Returns the time
 * that takes, in ms.
 */
export async function dropEvents(db: Db): Promise<number> {
  const later = END_MS + days(62)
  const { tables, keptMs } = EVENTS
  await keepMonths(db, { tables, keptMs: days(365) }, later)
  const startedMs = performance.now()
  await keepMonths(db, { tables, keptMs }, later)
  return performance.now() - startedMs
}

/**
 * Drops all indexes except unique ones, and returns their definitions: creating them afterwards takes a fraction of the
 * time.
 */
async function dropIndexes(db: Db): Promise<string[]> {
  const found = await rows<{ name: string; definition: string }>(
    db,
    sql`select indexrelid::regclass::text as name, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') as definition
      from pg_index where indrelid::regclass::text = any(${sql.param(`{${GROWING.join(',')}}`)}::text[]) and not indisunique`,
  )
  for (const { name } of found) await db.execute(sql.raw(`drop index ${name}`))
  return found.map(({ definition }) => definition)
}

/**
 * Lists tables and monthly partitions separately: PostgreSQL only analyzes a partitioned table as a whole on request.
 */
async function partsOf(db: Db): Promise<string[]> {
  const found = await rows<{ name: string }>(
    db,
    sql`select c.relname as name from pg_class c left join pg_inherits on inhrelid = c.oid
      where c.relkind = 'r' and coalesce(inhparent, c.oid)::regclass::text = any(${sql.param(`{${GROWING.join(',')}}`)}::text[])`,
  )
  return found.map(({ name }) => name)
}

/** The time and the id of a step's nth row. */
function inTime(from: number, to: number) {
  const ms = sql`(${END_MS - SPAN_MS}::bigint + (n - ${from}::int)::bigint * ${SPAN_MS}::bigint / ${to - from}::int)`
  return {
    timeOf: sql`to_timestamp(${ms} / 1000.0)`,
    idOf: (salt: string) => sql`(lpad(to_hex(${ms}), 12, '0')
      || '7' || substr(md5(n::text || ${salt}), 1, 3) || '8' || substr(md5(${salt} || n::text), 1, 15))::uuid`,
  }
}

/** Whether the nth row belongs to the tenant or to another one. */
const isOurs = sql`n % 2 = 0`
const other = (what: string) => sql`md5(${what} || n % 100)::uuid`
const isOpen = sql`n % 10 < 2 and n / 10 % 2 = 0`

function insertsOf(
  { workspaceId, dataStoreId, pipeIds, senderId }: Tenant,
  series: SQL,
  { timeOf, idOf }: ReturnType<typeof inTime>,
): SQL[] {
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
    sql`insert into file_parts (file_id, number, offset_bytes, size_bytes, etags, crc32)
      select ${idOf('file')}, 1, 0, 8388608, '{etag}', 7 from ${open}`,
    sql`insert into upload_tails (file_id, offset_bytes, bytes)
      select ${idOf('file')}, 8388608, decode(repeat('00', 1000), 'hex') from ${open} and n % 100 < 2`,
    sql`insert into tokens (id, workspace_id, pipe_id, sender_id, token_hash, expires_at, created_at)
      select ${idOf('token')}, ${workspace}, ${pipe}, ${sender}, md5('token' || n), now() + interval '1 day', ${timeOf} from ${series} where n % 10 = 0`,
    sql`insert into events (id, workspace_id, pipe_id, file_id, payload, fanned_out, created_at)
      select ${idOf('event')}, ${workspace}, ${pipe}, ${idOf('file')}, '{"event":"file.status_changed"}', true, ${timeOf} from ${ended}`,
    sql`insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, webhook_output_id, url, state, attempt_count,
        next_attempt_at, last_status, created_at)
      select ${idOf('delivery')}, ${workspace}, ${idOf('event')}, ${pipe}, ${idOf('file')}, ${other('output')}, 'https://shop.example.com/hooks',
        case when n % 1000 = 2 then 'pending' when n % 1000 = 4 then 'failed' else 'delivered' end, 1,
        case when n % 1000 = 2 then now() + interval '1 day' end, 200, ${timeOf} from ${ended}`,
    sql`insert into attempts (id, delivery_id, trigger, at, duration_ms, url, request_headers, status)
      select ${idOf('attempt')}, ${idOf('delivery')}, 'auto', ${timeOf}, 80, 'https://shop.example.com/hooks', '{}', 200 from ${ended}`,
  ]
}

/**
 * Returns the id of one of the tenant's transferred files or delivered deliveries from the middle of the period, for
 * pages in the middle of a list.
 */
export async function middleOf(
  db: Db,
  table: 'files' | 'deliveries',
  { workspaceId }: Tenant,
): Promise<string> {
  const sent = table === 'files' ? 'transferred' : 'delivered'
  const column = table === 'files' ? sql`status` : sql`state`
  const [row] = await rows<{ id: string }>(
    db,
    sql`select id from ${sql.identifier(table)} where workspace_id = ${workspaceId}::uuid and ${column} = ${sent}
      and id > ${firstUuidAt(END_MS - SPAN_MS / 2)}::uuid order by id limit 1`,
  )
  return row!.id
}
