import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { type Db, rows } from '#lib/db/database.ts'
import type { Outcome } from './client.ts'
import { BUCKETS } from './customer.ts'
import type { Log } from './log.ts'
import type { Source } from './source.ts'
import type { World } from './world.ts'

type FileRow = {
  id: string
  filename: string
  status: string
  failureReason: string | null
  offset: number
  bucket: string
  key: string
}

/** Waits until nothing is under way any more. */
export async function settle({ database: { db } }: World, log: Log, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const [left] = await rows<{ files: number; deliveries: number }>(
      db,
      sql`select (select count(*)::int from files where status = 'transferring' or lease_until > now()) as files,
        (select count(*)::int from deliveries where state = 'pending') as deliveries`,
    )
    if (left!.files === 0 && left!.deliveries === 0) return
    if (Date.now() > deadline)
      return log.violation(`${left!.files} files and ${left!.deliveries} deliveries do not come to an end`)
    await sleep(200)
  }
}

/** Every upload is its source, every event came, and the ledger, the usage and the bucket agree to the byte. */
export async function verify(
  world: World,
  log: Log,
  { outcomes, sources }: { outcomes: Outcome[]; sources: Source[] },
): Promise<void> {
  const files = await readFiles(world.database.db)
  checkOutcomes(files, outcomes, log)
  await checkObjects(world, files, sources, log)
  await checkLedger(world.database.db, log)
  await checkUsage(world.database.db, log)
  await checkEvents(world, files, log)
  for (const fault of world.receiver.faults) log.violation(fault)
  for (const file of files) log.count(`files ${file.status}`)
}

function readFiles(db: Db): Promise<FileRow[]> {
  return rows<FileRow>(
    db,
    sql`select f.id, f.filename, f.status, f.failure_reason as "failureReason", f.offset_bytes::float8 as "offset",
        d.bucket, d.key
      from files f join file_destinations d on d.file_id = f.id`,
  )
}

function checkOutcomes(files: FileRow[], outcomes: Outcome[], log: Log): void {
  const byId = new Map(files.map((file) => [file.id, file]))
  for (const { source, address, end } of outcomes) {
    const file = byId.get(address.split('/').at(-1)!)
    if (file?.status !== end)
      log.violation(`${source.name} ${address} is ${file?.status}, not ${end}; ${file?.failureReason ?? ''}`)
  }
  for (const { id, status, failureReason } of files) {
    if (status === 'failed') log.violation(`${id} failed: ${failureReason}`)
  }
}

async function checkObjects(world: World, files: FileRow[], sources: Source[], log: Log): Promise<void> {
  const byName = new Map(sources.map((source) => [source.name, source]))
  const wanted = new Map(
    files
      .filter(({ status }) => status === 'transferred')
      .map((file) => [join(file.bucket, file.key), byName.get(file.filename)!]),
  )
  const there = await listObjects(world.bucket.directory)
  for (const path of there.filter((path) => !wanted.has(path)))
    await checkUnheardOf(world, path, files, byName, log)
  for (const [path, source] of wanted) {
    if (!there.includes(path)) {
      log.violation(`${path} is transferred, but not in the bucket`)
      continue
    }
    const absolute = join(world.bucket.directory, path)
    const [{ size }, sha256] = [await stat(absolute), await hashOf(absolute)]
    log.count('bytes in the bucket', size)
    if (sha256 !== source.sha256)
      log.violation(`${path} (${size} bytes) is not its source (${source.bytes.length} bytes)`)
  }
}

/**
 * A node may die after the bucket took a one-part file and before it could say so. Until its client comes back the
 * object stands alone; keys that may put and nothing else cannot take it away.
 */
async function checkUnheardOf(
  world: World,
  path: string,
  files: FileRow[],
  byName: Map<string, Source>,
  log: Log,
): Promise<void> {
  const file = files.find(({ bucket, key }) => join(bucket, key) === path)
  const whole =
    file && (await hashOf(join(world.bucket.directory, path))) === byName.get(file.filename)?.sha256
  if (whole && ['uploading', 'canceled'].includes(file.status)) log.count('objects that nobody heard of')
  else log.violation(`${path} is litter in the bucket; its file is ${file?.status}`)
}

async function listObjects(directory: string): Promise<string[]> {
  const found: string[] = []
  for (const bucket of BUCKETS) {
    const entries = await readdir(join(directory, bucket), { recursive: true, withFileTypes: true })
    for (const entry of entries.filter((entry) => entry.isFile()))
      found.push(join(entry.parentPath, entry.name).slice(directory.length + 1))
  }
  return found
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Of an upload that is not finished, parts and tails stand one behind the other up to the offset. */
async function checkLedger(db: Db, log: Log): Promise<void> {
  const broken = await rows<{ id: string; offset: number; sum: number; gaps: number }>(
    db,
    sql`
    with piece as (
      select file_id, offset_bytes, size_bytes from file_parts
      union all select file_id, offset_bytes, length(bytes) from upload_tails
    ), chain as (
      select *, lag(offset_bytes + size_bytes, 1, 0::bigint) over (partition by file_id order by offset_bytes) as due
      from piece
    ), summed as (
      select file_id, sum(size_bytes) as sum, count(*) filter (where offset_bytes <> due) as gaps
      from chain group by 1
    )
    select f.id, f.offset_bytes::float8 as "offset", coalesce(s.sum, 0)::float8 as sum, coalesce(s.gaps, 0)::int as gaps
    from files f left join summed s on s.file_id = f.id
    where (f.status = 'uploading' and (coalesce(s.sum, 0) <> f.offset_bytes or s.gaps > 0))
      or (f.status in ('transferred', 'canceled') and s.sum > 0)`,
  )
  for (const { id, offset, sum, gaps } of broken)
    log.violation(`the ledger of ${id} has ${sum} bytes and ${gaps} gaps for an offset of ${offset}`)
}

async function checkUsage(db: Db, log: Log): Promise<void> {
  const [sums] = await rows<Record<'accepted' | 'reserved' | 'used' | 'held' | 'days', number>>(
    db,
    sql`select
      (select coalesce(sum(offset_bytes), 0)::float8 from files) as accepted,
      (select coalesce(sum(reserved_bytes), 0)::float8 from files) as reserved,
      (select coalesce(sum(used_bytes), 0)::float8 from usage_months) as used,
      (select coalesce(sum(reserved_bytes), 0)::float8 from usage_months) as held,
      (select coalesce(sum(bytes), 0)::float8 from usage_days) as days`,
  )
  const { accepted, reserved, used, held, days } = sums!
  if (used !== accepted) log.violation(`usage counts ${used} bytes, the files have ${accepted}`)
  if (days !== accepted) log.violation(`the days of usage count ${days} bytes, the files have ${accepted}`)
  if (held !== reserved) log.violation(`usage reserves ${held} bytes, the files ${reserved}`)
}

/** One event for each end of a file, under one id, and each of them was taken by the receiver. */
async function checkEvents({ database, receiver }: World, files: FileRow[], log: Log): Promise<void> {
  const events = await rows<{ id: string; fileId: string; status: string }>(
    database.db,
    sql`select id, file_id as "fileId", payload::json->'data'->>'status' as status from events`,
  )
  for (const file of files.filter(({ status }) => status !== 'uploading' && status !== 'transferring')) {
    const own = events.filter(({ fileId }) => fileId === file.id)
    if (own.length !== 1 || own[0]!.status !== file.status)
      log.violation(`${file.id} is ${file.status} and has the events ${own.map(({ status }) => status)}`)
  }
  for (const { id } of events) {
    const received = receiver.events.get(id)
    if (!received?.accepted) log.violation(`event ${id} never reached its receiver`)
    log.count('attempts to deliver', received?.attempts ?? 0)
  }
  for (const id of receiver.events.keys()) {
    if (!events.some((event) => event.id === id))
      log.violation(`the receiver got event ${id} that is not recorded`)
  }
  log.count('events', events.length)
}
