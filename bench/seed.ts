import { sql } from 'drizzle-orm'
import type { Db } from '#lib/platform/db/database.ts'

/** An established workspace: a million files, a million deliveries with their attempts, and tokens. */
const ROWS = 1_000_000
const TOKENS = 20_000

export type Owner = { workspaceId: string; dataStoreId: string; pipeIds: string[]; senderIds: string[] }

/** The nth row's id: in time order like all ids, a second apart and ending now; the same in each statement. */
const END_MS = Date.now()
const idOf = (salt: string) => sql`(lpad(to_hex(${END_MS}::bigint - (${ROWS}::bigint - n) * 1000), 12, '0')
  || '7' || substr(md5(n::text || ${salt}), 1, 3) || '8' || substr(md5(${salt} || n::text), 1, 15))::uuid`
const timeOf = sql`now() - (${ROWS}::int - n) * interval '1 second'`
const oneOf = (ids: string[]) => sql`(${sql.param(`{${ids.join(',')}}`)}::text[])[1 + n % ${ids.length}::int]`
const series = (count: number) => sql`generate_series(1, ${count}::int) n`

export async function seedFiles(db: Db, { workspaceId, pipeIds, senderIds }: Owner): Promise<void> {
  await db.execute(sql`
    insert into files (id, workspace_id, pipe_id, sender_id, sender_name, filename, status, length_bytes,
      offset_bytes, expiry_seconds, expires_at, first_byte_at, finished_at, created_at)
    select ${idOf('files')}, ${workspaceId}::uuid, ${oneOf(pipeIds)}, ${oneOf(senderIds)}::uuid, 'Backend',
      case when n % 3 = 0 then 'photo ' else 'film ' end || n || '.bin',
      case when n > ${ROWS}::int - 20 then 'uploading' when n % 1000 = 0 then 'failed' else 'transferred' end,
      1000, case when n > ${ROWS}::int - 20 then 500 else 1000 end, 604800, now() + interval '7 days',
      ${timeOf}, ${timeOf}, ${timeOf}
    from ${series(ROWS)}`)
  await db.execute(sql`analyze files`)
}

export async function seedDeliveries(db: Db, { workspaceId, pipeIds }: Owner): Promise<void> {
  await db.execute(sql`
    insert into events (id, workspace_id, pipe_id, file_id, payload, fanned_out, created_at)
    select ${idOf('events')}, ${workspaceId}::uuid, ${oneOf(pipeIds)}, ${idOf('files')},
      '{"event":"file.status_changed","data":{"filename":"' || n || '"}}', true, ${timeOf}
    from ${series(ROWS)}`)
  await db.execute(sql`
    insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, webhook_output_id, url, state, attempt_count,
      next_attempt_at, last_status, created_at)
    select ${idOf('deliveries')}, ${workspaceId}::uuid, ${idOf('events')}, ${oneOf(pipeIds)}, ${idOf('files')},
      '019a0000-0000-7000-8000-00000000000b'::uuid, 'https://shop.example.com/hooks',
      case when n > ${ROWS}::int - 20 then 'pending' when n % 1000 = 0 then 'failed' else 'delivered' end, 1,
      case when n > ${ROWS}::int - 20 then now() + interval '1 hour' end, 200, ${timeOf}
    from ${series(ROWS)}`)
  await db.execute(sql`
    insert into attempts (id, delivery_id, trigger, at, duration_ms, url, request_headers, status)
    select ${idOf('attempts')}, ${idOf('deliveries')}, 'auto', ${timeOf}, 80, 'https://shop.example.com/hooks', '{}', 200
    from ${series(ROWS)}`)
  await db.execute(sql`analyze events, deliveries, attempts`)
}

export async function seedTokens(db: Db, { workspaceId, pipeIds, senderIds }: Owner): Promise<void> {
  await db.execute(sql`
    insert into tokens (id, workspace_id, pipe_id, sender_id, token_hash, expires_at, created_at)
    select ${idOf('tokens')}, ${workspaceId}::uuid, ${oneOf(pipeIds)}, ${oneOf(senderIds)}::uuid,
      md5('token' || n), now() + interval '1 hour', ${timeOf}
    from ${series(TOKENS)}`)
  await db.execute(sql`analyze tokens`)
}
