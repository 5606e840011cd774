import { sql } from 'drizzle-orm'
import type { DemoDocument } from '../../lib/dashboard/demo/demo-document.ts'
import { type Db, rows } from '../../lib/platform/db/database.ts'
import { openDatabase } from '../../lib/platform/db/open-database.ts'
import { createLogger } from '../../lib/platform/log/log.ts'
import { STEPS, stepOf } from '../../lib/workspace/usage/durations.ts'

/** The past three months of a customer who is neither small nor without troubles, as rows of the demo workspace. */
const NAMES = [
  'harbour-at-dawn.mp4',
  'floor-plan.pdf',
  'interview-take-2.wav',
  'drone-pass-07.mp4',
  'site-survey.las',
  'passport-scan.jpg',
  'podcast-episode-41.flac',
  'mri-series-0912.dcm',
  'wedding-reception.mov',
  'invoice-2026-118.pdf',
  'stage-left-cam3.mxf',
  'roof-inspection.zip',
  'thesis-draft-final-final.docx',
  'lidar-tile-55-12.laz',
]
const PIPES = ['Video masters', 'Customer documents', 'Field recordings']
const SENDERS = ['Web shop', 'Back office', 'Field app']
const FILES = 420

type Ids = { workspaceId: string; pipeIds: string[]; senderIds: string[]; outputId: string; url: string }

export async function writeHistory(dataDir: string, demo: DemoDocument): Promise<void> {
  const ids = await makePlaces(demo)
  const database = await openDatabase({ dataDir }, { log: createLogger('warn'), share: true })
  try {
    const [own] = await rows<{ workspaceId: string; outputId: string; url: string }>(
      database.db,
      sql`select p.workspace_id as "workspaceId", o.id as "outputId", o.url from pipes p
        join webhook_outputs o on o.pipe_id = p.id where p.id = ${demo.pipeId}`,
    )
    const all = { ...ids, ...own! }
    await writeFiles(database.db, all)
    await writeCounts(database.db, all)
    await writeUsage(database.db, all)
  } finally {
    await database.close()
  }
}

/** By the API, as the customer would. */
async function makePlaces(demo: DemoDocument): Promise<Pick<Ids, 'pipeIds' | 'senderIds'>> {
  const made = async (path: string, body: object): Promise<string> => {
    const response = await fetch(`${demo.baseUrl}/api/v1${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${demo.accountKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return ((await response.json()) as { id: string }).id
  }
  const pipeIds = [demo.pipeId]
  const senderIds: string[] = []
  for (const name of PIPES) {
    pipeIds.push(await made('/pipes', { name, dataStoreId: demo.dataStoreId, source: { http: true } }))
  }
  for (const name of SENDERS) senderIds.push(await made('/senders', { name }))
  return { pipeIds, senderIds }
}

/** Larger towards now, smaller at weekends and at night. */
function busyness(atMs: number, nowMs: number): number {
  const at = new Date(atMs)
  const weekend = [0, 6].includes(at.getUTCDay()) ? 0.35 : 1
  const hour = 0.25 + Math.max(0, Math.sin(((at.getUTCHours() - 5) / 15) * Math.PI))
  const growth = 1 - (nowMs - atMs) / (86_400_000 * 200)
  const wobble = 0.75 + 0.5 * Math.abs(Math.sin(atMs / 7_777_777))
  return weekend * hour * growth * wobble
}

async function writeFiles(db: Db, { workspaceId, pipeIds, senderIds, outputId, url }: Ids): Promise<void> {
  const nowMs = Date.now()
  const made = Array.from({ length: FILES }, (_, n) => {
    const atMs = nowMs - 240_000 - Math.round(n ** 1.7 * 47_000)
    const status =
      n % 41 === 7
        ? 'failed'
        : n % 67 === 9
          ? 'expired'
          : n % 53 === 11
            ? 'canceled'
            : n === 3 || n === 12
              ? 'uploading'
              : 'transferred'
    const bytes = Math.round(10 ** (5.2 + ((n * 7919) % 430) / 100))
    const filename = NAMES[(n * 5) % NAMES.length]!
    return {
      n,
      at: new Date(atMs).toISOString(),
      status,
      bytes,
      filename,
      offset: status === 'transferred' ? bytes : Math.round(bytes * (0.2 + (n % 7) / 10)),
      pipe: pipeIds[1 + ((n * 3) % PIPES.length)],
      sender: senderIds[n % SENDERS.length],
      sender_name: SENDERS[n % SENDERS.length],
      subject: `customer-${1000 + ((n * 37) % 90)}`,
      reason:
        status === 'failed'
          ? 'The bucket rejected the upload: AccessDenied. The keys may not put objects.'
          : null,
      took: 2000 + ((n * 7919) % 90_000),
      delivered: n % 29 !== 5,
    }
  })
  const set = sql`json_to_recordset(${JSON.stringify(made)}::json) as m(n int, at timestamptz, status text, bytes bigint, filename text,
    "offset" bigint, pipe text, sender uuid, sender_name text, subject text, reason text, took int, delivered boolean)`
  const id = (salt: string) => sql`(lpad(to_hex((extract(epoch from m.at) * 1000)::bigint), 12, '0') || '7'
    || substr(md5(m.n::text || ${salt}), 1, 3) || '8' || substr(md5(${salt} || m.n::text), 1, 15))::uuid`
  await db.execute(sql`
    insert into files (id, workspace_id, pipe_id, sender_id, sender_name, subject, filename, filetype, status, failure_reason, length_bytes,
      offset_bytes, counted_bytes, expiry_seconds, expires_at, first_byte_at, last_byte_at, finished_at, created_at)
    select ${id('file')}, ${workspaceId}::uuid, pipe, sender, sender_name, subject, filename, 'application/octet-stream', status, reason,
      bytes, "offset", "offset", 604800, now() + interval '6 days', at, at + took * interval '1 ms',
      case when status <> 'uploading' then at + took * interval '1 ms' end, at
    from ${set}`)
  await db.execute(sql`
    insert into events (id, workspace_id, pipe_id, file_id, payload, created_at)
    select ${id('event')}, ${workspaceId}::uuid, pipe, ${id('file')},
      json_build_object('event', 'file.status_changed', 'data', json_build_object('filename', filename, 'status', status))::text, at
    from ${set} where status <> 'uploading'`)
  await db.execute(sql`
    insert into deliveries (id, workspace_id, event_id, pipe_id, file_id, webhook_output_id, url, state, attempt_count,
      last_status, delivered_at, created_at)
    select ${id('delivery')}, ${workspaceId}::uuid, ${id('event')}, pipe, ${id('file')}, ${outputId}::uuid, ${url},
      case when delivered then 'delivered' else 'failed' end, 1, case when delivered then 200 else 503 end,
      case when delivered then at end, at
    from ${set} where status <> 'uploading'`)
  await db.execute(sql`
    insert into attempts (id, delivery_id, trigger, at, duration_ms, url, request_headers, status)
    select ${id('attempt')}, ${id('delivery')}, 'auto', at, 40 + n % 90, ${url}, '{"content-type":"application/json"}',
      case when delivered then 200 else 503 end
    from ${set} where status <> 'uploading'`)
}

async function writeCounts(db: Db, { workspaceId, pipeIds }: Ids): Promise<void> {
  const nowMs = Date.now()
  const made: object[] = []
  const put = (span: 'hour' | 'quarter' | 'day', lengthMs: number, slots: number) => {
    const last = Math.floor(nowMs / lengthMs) * lengthMs
    for (let n = 0; n < slots; n++) {
      const at = last - n * lengthMs
      const hours = Array.from({ length: lengthMs / 3_600_000 }, (_, hour) => at + hour * 3_600_000).filter(
        (atMs) => atMs <= nowMs,
      )
      const busy = hours.reduce((sum, atMs) => sum + busyness(atMs, nowMs), 0)
      const shares = [0.55, 0.3, 0.15]
      const each = shares.map((share, pipe) =>
        countOf(span, at, pipeIds[pipe + 1]!, Math.round(busy * 60 * share), pipe),
      )
      made.push(...each, each.reduce(together))
    }
  }
  put('hour', 3_600_000, 9 * 24)
  put('quarter', 6 * 3_600_000, 16 * 4)
  put('day', 86_400_000, 190)
  await db.execute(sql`
    insert into counts (workspace_id, span, at, pipe_id, transferred, failed, expired, delivered, undelivered, bytes, durations)
    select ${workspaceId}::uuid, span, to_timestamp(at / 1000), pipe, transferred, failed, expired, delivered, undelivered, bytes,
      array(select value::int from json_array_elements_text(durations))
    from json_to_recordset(${JSON.stringify(made)}::json) as m(span text, at bigint, pipe text, transferred int, failed int,
      expired int, delivered int, undelivered int, bytes bigint, durations json)
    on conflict do nothing`)
}

type Count = ReturnType<typeof countOf>

function countOf(span: string, at: number, pipe: string, files: number, kind: number) {
  const durations = Array.from({ length: STEPS }, () => 0)
  durations[stepOf([21_000, 900, 4000][kind]!)] = files
  const failed = Math.floor(files / 70 + Math.abs(Math.sin(at / 3_333_333)) * 0.9)
  return {
    span,
    at,
    pipe,
    transferred: files,
    failed,
    expired: Math.round(files / 140),
    delivered: files - Math.round(failed / 3),
    undelivered: Math.round(failed / 3),
    bytes: files * [1_600_000, 90_000, 700_000][kind]!,
    durations,
  }
}

function together(a: Count, b: Count): Count {
  const sum = (key: 'transferred' | 'failed' | 'expired' | 'delivered' | 'undelivered' | 'bytes') =>
    a[key] + b[key]
  return {
    span: a.span,
    at: a.at,
    pipe: '',
    transferred: sum('transferred'),
    failed: sum('failed'),
    expired: sum('expired'),
    delivered: sum('delivered'),
    undelivered: sum('undelivered'),
    bytes: sum('bytes'),
    durations: a.durations.map((count, step) => count + b.durations[step]!),
  }
}

async function writeUsage(db: Db, { workspaceId, pipeIds }: Ids): Promise<void> {
  await db.execute(sql`
    insert into usage_days (workspace_id, pipe_id, day, bytes)
    select ${workspaceId}::uuid, pipe, day::date, (60000000 * (1 + abs(sin(extract(epoch from day) / 300000 + length(pipe)))))::bigint
    from unnest(${sql.param(`{${pipeIds.slice(1).join(',')}}`)}::text[]) as pipe,
      generate_series(date_trunc('month', now() at time zone 'utc'), now() at time zone 'utc', interval '1 day') as day
    where extract(isodow from day) < 6
    on conflict do nothing`)
  await db.execute(sql`
    insert into usage_months (workspace_id, month, used_bytes)
    select ${workspaceId}::uuid, to_char(now() at time zone 'utc', 'YYYY-MM'), sum(bytes) from usage_days
    where workspace_id = ${workspaceId}::uuid
    on conflict (workspace_id, month) do update set used_bytes = excluded.used_bytes`)
}
