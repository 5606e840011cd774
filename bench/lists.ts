import { sql } from 'drizzle-orm'
import { fileQuery } from '#lib/dashboard/files/file-query.ts'
import { listFiles } from '#lib/dashboard/files/list-files.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { type Db, rows } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { writeCursor } from '#lib/platform/db/page.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { deliveryQuery, listDeliveries } from '#lib/webhooks/log/list-deliveries.ts'
import { createDatabase } from '../test/support/postgres.ts'
import type { Finding } from './cases.ts'

/** Measures pages of lists with a million rows, the first page and one in the middle, with every filter. */
const MOST = 1_000_000
const ROUNDS = 50
const PIPE = 'pipe_aaaaaaaaaaaaaaaaaaaa'
const SENDER = '019a0000-0000-7000-8000-00000000000a'

const FILE_QUERIES: Record<string, Record<string, unknown>> = {
  all: {},
  'by status': { status: 'transferred' },
  'by a rare status': { status: 'failed' },
  'by Pipe': { pipeId: PIPE },
  'by Pipe and status': { pipeId: PIPE, status: 'failed' },
  'by Sender': { senderId: SENDER },
  'by Sender and status': { senderId: SENDER, status: 'failed' },
  'by name': { filename: 'photo' },
  'by a name without matches': { filename: 'nothing has it' },
  'by time': { createdBefore: '2026-01-03T00:00:00Z' },
}

const DELIVERY_QUERIES: Record<string, Record<string, unknown>> = {
  all: {},
  'by state': { state: 'delivered' },
  'by a rare state': { state: 'failed' },
  'by a state without matches': { state: 'pending' },
  'by Pipe': { pipeId: PIPE },
  'by Pipe and state': { pipeId: PIPE, state: 'failed' },
  'by Pipe and a state without matches': { pipeId: PIPE, state: 'pending' },
  'by file': { fileId: '019a0000-0000-7000-8000-00000000000f' },
  'by event': { eventId: '019a0000-0000-7000-8000-00000000000e' },
  'until a time': { until: '2026-01-01T00:08:00Z' },
  'between two times': { since: '2026-01-01T00:08:00Z', until: '2026-01-01T00:08:01Z' },
  'by state until a time': { state: 'failed', until: '2026-01-01T00:08:00Z' },
}

const MAX_MS = 20

type List = (query: Record<string, unknown>) => Promise<unknown>
type Filled = { actor: Actor; cursor: string }

export async function benchFileLists(postgresUrl: string): Promise<Finding[]> {
  return withDatabase(postgresUrl, async (db) => {
    const { actor, cursor } = await fillFiles(db)
    const list: List = (fields) => listFiles({ db }, actor, parseInput(fileQuery, fields))
    return measure('files', FILE_QUERIES, list, cursor)
  })
}

export async function benchDeliveryLists(postgresUrl: string): Promise<Finding[]> {
  return withDatabase(postgresUrl, async (db) => {
    const { actor, cursor } = await fillDeliveries(db)
    const runtime = { db, clock: systemClock }
    const list: List = (fields) => listDeliveries(runtime, actor, parseInput(deliveryQuery, fields))
    return measure('deliveries', DELIVERY_QUERIES, list, cursor)
  })
}

async function withDatabase(postgresUrl: string, work: (db: Db) => Promise<Finding[]>): Promise<Finding[]> {
  const { url, drop } = await createDatabase(postgresUrl)
  const { db, close } = openPostgres({ address: url })
  try {
    await migrate(db)
    return await work(db)
  } finally {
    await close()
    await drop()
  }
}

async function measure(
  of: string,
  queries: Record<string, Record<string, unknown>>,
  list: List,
  cursor: string,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, fields] of Object.entries(queries)) {
    const firstMs = await medianMs(() => list(fields))
    const deepMs = await medianMs(() => list({ ...fields, cursor }))
    findings.push({
      what: `A page of a million ${of}, ${name}`,
      measured: `${firstMs} ms, in the middle of the list ${deepMs} ms`,
      wanted: `≤ ${MAX_MS} ms`,
      holds: Math.max(firstMs, deepMs) <= MAX_MS,
    })
  }
  return findings
}

/** Another workspace has as many rows, so that a query would be slow if its index did not include the workspace. */
async function createOwners(db: Db): Promise<{ actor: Actor; owners: string[] }> {
  const runtime = { db, clock: systemClock }
  const account = { email: 'bench@example.com', passwordHash: null, emailVerified: true }
  const { workspaceId, userId } = await createAccount(runtime, account)
  const other = await createAccount(runtime, { ...account, email: 'other@example.com' })
  const actor: Actor = { workspaceId, kind: 'user', id: userId, label: account.email, role: 'owner' }
  return { actor, owners: [workspaceId, other.workspaceId] }
}

/** Version 7 UUIDs, one for each millisecond from the start of 2026. */
const newId = (owner: string) => sql`(lpad(to_hex(1767225600000 + n), 12, '0') || '7'
  || substr(md5(n::text || ${owner}), 1, 3) || '8' || substr(md5(${owner} || n::text), 1, 15))::uuid`

async function fillFiles(db: Db): Promise<Filled> {
  const { actor, owners } = await createOwners(db)
  for (const owner of owners) {
    await db.execute(sql`
      insert into files (id, workspace_id, pipe_id, sender_id, sender_name, filename, status, length_bytes,
        offset_bytes, expiry_seconds, expires_at, created_at)
      select ${newId(owner)},
        ${owner}::uuid, case when n % 10 = 0 then ${PIPE} else 'pipe_bbbbbbbbbbbbbbbbbbbb' end, ${SENDER}::uuid, 'Backend',
        case when n % 3 = 0 then 'photo ' else 'film ' end || n || '.bin',
        case when n % 1000 = 0 then 'failed' else 'transferred' end, 1000, 1000, 604800, now(), now()
      from generate_series(1, ${MOST}::int) n`)
  }
  await db.execute(sql`analyze files`)
  return { actor, cursor: await middleOf(db, 'files', actor) }
}

async function fillDeliveries(db: Db): Promise<Filled> {
  const { actor, owners } = await createOwners(db)
  for (const owner of owners) {
    await db.execute(sql`
      with event as (
        insert into events (id, workspace_id, pipe_id, payload, fanned_out) values (gen_random_uuid(), ${owner}::uuid, ${PIPE}, '{}', true)
        returning id
      )
      insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, webhook_output_id, url, state,
        attempt_count, delivered_at, created_at)
      select ${newId(owner)}, ${owner}::uuid, event.id,
        case when n % 10 = 0 then ${PIPE} else 'pipe_bbbbbbbbbbbbbbbbbbbb' end, gen_random_uuid(), ${owner}::uuid,
        'https://example.com/hook', case when n % 1000 = 0 then 'failed' else 'delivered' end, 1, now(),
        to_timestamp((1767225600000 + n) / 1000.0)
      from event, generate_series(1, ${MOST}::int) n`)
  }
  await db.execute(sql`
    insert into attempts (id, delivery_id, trigger, at, url, request_headers, status)
    select d.id, d.id, 'auto', d.created_at, d.url, '{}', 200 from deliveries d
    where d.workspace_id = ${actor.workspaceId}`)
  await db.execute(sql`analyze deliveries, attempts, events`)
  return { actor, cursor: await middleOf(db, 'deliveries', actor) }
}

/** The cursor of a page in the middle of the list. */
async function middleOf(db: Db, table: 'files' | 'deliveries', { workspaceId }: Actor): Promise<string> {
  const [found] = await rows<{ id: string }>(
    db,
    sql`select id from ${sql.identifier(table)} where workspace_id = ${workspaceId}::uuid
      order by id desc offset ${MOST / 2}::int limit 1`,
  )
  return writeCursor(found!.id)
}

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return Math.round(times.sort((a, b) => a - b)[ROUNDS / 2]! * 10) / 10
}
