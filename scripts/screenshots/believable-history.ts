import { sql } from 'drizzle-orm'
import type { DemoDocument } from '../../lib/dashboard/demo/ensure-demo.ts'
import { type Db, rows } from '../../lib/platform/db/database.ts'
import { openDatabase } from '../../lib/platform/db/open-database.ts'
import { createLogger } from '../../lib/platform/log/log.ts'
import { foldTallies } from '../../lib/workspace/usage/fold-tallies.ts'

/**
 * The past half year of a typical mid-size customer with some problems, as rows in the demo workspace. All figures are
 * derived from the files: they are counted as Sluice would count them, and their bytes are added up for usage.
 */
const DAYS = 190
/** How long webhook attempts are kept. */
const DELIVERY_DAYS = 30
/** Files per hour at full load. */
const BUSIEST_HOUR = 7
const HOUR_MS = 3_600_000

/**
 * Each Pipe's traffic: its backend, its share of all files, its range of file sizes (as powers of ten), and its upload
 * speed.
 */
const KINDS = [
  {
    pipe: 'Video masters',
    sender: 'Back office',
    upTo: 0.05,
    powers: [6.7, 8.1],
    bytesPerMs: 1500,
    names: [
      ['harbour-at-dawn.mp4', 'video/mp4'],
      ['drone-pass-07.mp4', 'video/mp4'],
      ['wedding-reception.mov', 'video/quicktime'],
      ['stage-left-cam3.mxf', 'application/mxf'],
    ],
  },
  {
    pipe: 'Customer documents',
    sender: 'Web shop',
    upTo: 0.75,
    powers: [4.9, 6.6],
    bytesPerMs: 900,
    names: [
      ['floor-plan.pdf', 'application/pdf'],
      ['passport-scan.jpg', 'image/jpeg'],
      ['invoice-2026-118.pdf', 'application/pdf'],
      ['thesis-draft-final-final.docx', 'application/msword'],
      ['roof-inspection.zip', 'application/zip'],
    ],
  },
  {
    pipe: 'Field recordings',
    sender: 'Field app',
    upTo: 1,
    powers: [5.8, 7.2],
    bytesPerMs: 400,
    names: [
      ['interview-take-2.wav', 'audio/wav'],
      ['podcast-episode-41.flac', 'audio/flac'],
      ['lidar-tile-55-12.laz', 'application/octet-stream'],
      ['site-survey.las', 'application/octet-stream'],
    ],
  },
] as const

type Place = { pipeId: string; senderId: string; sender: string }
type Own = { workspaceId: string; outputId: string; url: string; dataStoreId: string; bucket: string }

export async function writeHistory(dataDir: string, demo: DemoDocument): Promise<void> {
  const places = await makePlaces(demo)
  const database = await openDatabase({ dataDir }, { log: createLogger('warn'), share: true })
  try {
    await writeRows(database.db, demo.pipeId, places)
  } finally {
    await database.close()
  }
}

/** The history of the places in the workspace of a Pipe, whose Data Store and webhook output they share. */
export async function writeRows(db: Db, pipeId: string, places: Place[]): Promise<void> {
  const [own] = await rows<Own>(
    db,
    sql`select p.workspace_id as "workspaceId", o.id as "outputId", o.url, s.id as "dataStoreId", s.bucket from pipes p
      join webhook_outputs o on o.pipe_id = p.id join pipe_destinations d on d.pipe_id = p.id
      join data_stores s on s.id = d.data_store_id where p.id = ${pipeId}`,
  )
  await writeFiles(db, own!, makeFiles(places))
  await foldTallies({ db })
  await writeUsage(db, own!, places)
  await age(db, own!)
}

/** Creates Pipes and Senders through the API, as a customer would. */
async function makePlaces(demo: DemoDocument): Promise<Place[]> {
  const made = async (path: string, body: object): Promise<string> => {
    const response = await fetch(`${demo.baseUrl}/api/v1${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${demo.accountKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return ((await response.json()) as { id: string }).id
  }
  const places: Place[] = []
  for (const { pipe: name, sender } of KINDS) {
    const pipeId = await made('/pipes', { name, dataStoreId: demo.dataStoreId, source: { http: true } })
    places.push({ pipeId, senderId: await made('/senders', { name: sender }), sender })
  }
  return places
}

/** Returns how busy a time is: busier towards the present, less busy on weekends and at night. */
function busyness(atMs: number, nowMs: number): number {
  const at = new Date(atMs)
  const weekend = [0, 6].includes(at.getUTCDay()) ? 0.5 : 1
  const hour = 0.25 + Math.max(0, Math.sin(((at.getUTCHours() - 5) / 15) * Math.PI))
  const growth = 1 - (nowMs - atMs) / (86_400_000 * 250)
  const wobble = 0.75 + 0.5 * Math.abs(Math.sin(atMs / 7_777_777))
  return weekend * hour * growth * wobble
}

/** Creates files hour by hour, carrying fractional files over into the next hour. */
function makeFiles(places: Place[]) {
  const nowMs = Date.now()
  const files: ReturnType<typeof makeFile>[] = []
  let due = 0
  for (let atMs = nowMs - DAYS * 24 * HOUR_MS; atMs < nowMs - HOUR_MS; atMs += HOUR_MS) {
    due += BUSIEST_HOUR * busyness(atMs, nowMs)
    for (; due >= 1; due -= 1) files.push(makeFile(files.length, atMs + (1 - (due % 1)) * HOUR_MS, places))
  }
  // Two of the latest uploads are still in progress.
  for (const file of [files.at(-1)!, files.at(-4)!]) file.status = 'uploading'
  return files
}

const STATUSES: [every: number, at: number, status: string][] = [
  [61, 7, 'failed'],
  [97, 9, 'expired'],
  [83, 11, 'canceled'],
]

/** Returns a number from 0 up to 1, which is the same in each run. */
function chance(n: number, salt: number): number {
  return (Math.abs(Math.sin(n * 12.9898 + salt * 78.233)) * 43_758.5453) % 1
}

function makeFile(n: number, atMs: number, places: Place[]) {
  const kind = KINDS.findIndex(({ upTo }) => chance(n, 3) < upTo)
  const { names, powers, bytesPerMs } = KINDS[kind]!
  const { pipeId, senderId, sender } = places[kind]!
  const [least, most] = powers
  const bytes = Math.round(10 ** (least + (most - least) * chance(n, 5)))
  const [filename, filetype] = names[Math.floor(chance(n, 7) * names.length)]!
  const status = STATUSES.find(([every, at]) => n % every === at)?.[2] ?? 'transferred'
  return {
    n,
    at: new Date(atMs).toISOString(),
    status,
    bytes,
    share: status === 'transferred' ? 1 : 0.2 + (n % 7) / 10,
    filename,
    filetype,
    pipe: pipeId,
    sender: senderId,
    sender_name: sender,
    subject: `customer-${1000 + ((n * 37) % 90)}`,
    reason:
      status === 'failed'
        ? 'The bucket rejected the upload: AccessDenied. The keys are not allowed to put objects.'
        : null,
    took: Math.round(600 + bytes / bytesPerMs),
    delivered: n % 89 !== 5,
  }
}

async function writeFiles(
  db: Db,
  { workspaceId, outputId, url, dataStoreId, bucket }: Own,
  made: ReturnType<typeof makeFiles>,
): Promise<void> {
  const set = sql`json_to_recordset(${JSON.stringify(made)}::json) as m(n int, at timestamptz, status text, bytes bigint, share float8,
    filename text, filetype text, pipe text, sender uuid, sender_name text, subject text, reason text, took int, delivered boolean)`
  const told = sql`${set} where status = 'transferred' and at > now() - ${DELIVERY_DAYS}::int * interval '1 day'`
  const id = (salt: string) => sql`(lpad(to_hex((extract(epoch from m.at) * 1000)::bigint), 12, '0') || '7'
    || substr(md5(m.n::text || ${salt}), 1, 3) || '8' || substr(md5(${salt} || m.n::text), 1, 15))::uuid`
  const sent = sql`floor(bytes * share * case when status = 'uploading' then 0.6 else 1 end)`
  await db.execute(sql`
    insert into files (id, workspace_id, pipe_id, sender_id, sender_name, subject, filename, filetype, status, failure_reason, length_bytes,
      offset_bytes, counted_bytes, expiry_seconds, expires_at, first_byte_at, last_byte_at, finished_at, created_at)
    select ${id('file')}, ${workspaceId}::uuid, pipe, sender, sender_name, subject, filename, filetype, status, reason,
      bytes, ${sent}, ${sent}, 604800, now() + interval '6 days', at, at + took * interval '1 ms',
      case when status <> 'uploading' then at + took * interval '1 ms' end, at
    from ${set}`)
  await db.execute(sql`
    insert into file_destinations (file_id, data_store_id, bucket, key, status, etag, certainty)
    select ${id('file')}, ${dataStoreId}::uuid, ${bucket}, ${id('file')} || '/' || filename,
      case status when 'transferred' then status when 'uploading' then 'pending' else 'failed' end,
      case when status = 'transferred' then '"' || md5(n::text) || '"' end, case when status = 'transferred' then 'answered' end
    from ${set}`)
  await db.execute(sql`
    insert into tallies (workspace_id, pipe_id, what, at, bytes, took_ms)
    select ${workspaceId}::uuid, pipe, status, at, case when status = 'transferred' then bytes else 0 end,
      case when status = 'transferred' then took else 0 end
    from ${set} where status <> 'uploading'
    union all
    select ${workspaceId}::uuid, pipe, case when delivered then 'delivered' else 'undelivered' end, at, 0, 0
    from ${set} where status = 'transferred'`)
  await db.execute(sql`
    insert into events (id, workspace_id, pipe_id, file_id, payload, fanned_out, created_at)
    select ${id('event')}, ${workspaceId}::uuid, pipe, ${id('file')},
      json_build_object('event', 'file.status_changed', 'data', json_build_object('filename', filename, 'status', status))::text, true, at
    from ${told}`)
  await db.execute(sql`
    insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, webhook_output_id, url, state, attempt_count,
      last_status, delivered_at, created_at)
    select ${id('delivery')}, ${workspaceId}::uuid, ${id('event')}, pipe, ${id('file')}, ${outputId}::uuid, ${url},
      case when delivered then 'delivered' else 'failed' end, 1, case when delivered then 200 else 503 end,
      case when delivered then at end, at
    from ${told}`)
  await db.execute(sql`
    insert into attempts (id, delivery_id, trigger, at, duration_ms, url, request_headers, status)
    select ${id('attempt')}, ${id('delivery')}, 'auto', at, 40 + n % 90, ${url}, '{"content-type":"application/json"}',
      case when delivered then 200 else 503 end
    from ${told}`)
}

/** Adds the bytes of these files to the usage of the current month. */
async function writeUsage(db: Db, { workspaceId }: Own, places: Place[]): Promise<void> {
  const pipeIds = `{${places.map(({ pipeId }) => pipeId).join()}}`
  await db.execute(sql`
    insert into usage_days (workspace_id, pipe_id, day, bytes)
    select workspace_id, pipe_id, (created_at at time zone 'utc')::date, sum(offset_bytes) from files
    where pipe_id = any(${pipeIds}::text[])
      and created_at >= date_trunc('month', now() at time zone 'utc') at time zone 'utc'
    group by 1, 2, 3`)
  await db.execute(sql`
    insert into usage_months (workspace_id, month, used_bytes)
    select ${workspaceId}::uuid, to_char(now() at time zone 'utc', 'YYYY-MM'), coalesce(sum(bytes), 0) from usage_days
    where workspace_id = ${workspaceId}::uuid
    on conflict (workspace_id, month) do update set used_bytes = excluded.used_bytes`)
}

/**
 * Makes Pipes, Senders, Data Stores and keys older than the files that used them, and updates the times of their last
 * use.
 */
async function age(db: Db, { workspaceId }: Own): Promise<void> {
  for (const table of ['pipes', 'senders', 'data_stores', 'account_keys', 'audit_log']) {
    await db.execute(sql`
      update ${sql.identifier(table)} set created_at = created_at - ${DAYS + 1}::int * interval '1 day'
      where workspace_id = ${workspaceId}::uuid`)
  }
  await db.execute(sql`
    update senders s set last_used_at = f.at, request_count = f.n
    from (select sender_id, max(created_at) as at, count(*) as n from files group by 1) f where f.sender_id = s.id`)
}
