import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { type Db, rows } from '#lib/platform/db/database.ts'
import { OWNERLESS } from '#lib/recovery/ownerless-bytes.ts'
import { requestRepair } from '#lib/repairs/request-repair.ts'
import { tailBytes } from '#lib/uploads/ledger/tail-rows.ts'
import type { Outcome } from './client.ts'
import type { Log } from './log.ts'
import type { Source } from './source.ts'
import { verifyBucket } from './verify-bucket.ts'
import type { World } from './world.ts'

/** A file at one of its destinations. */
export type FileRow = {
  id: string
  filename: string
  status: string
  /** The file's status at this destination. */
  destinationStatus: string
  isRequired: boolean
  /** Whether an object has been copied to one of its destinations. */
  isRepaired: boolean
  failureReason: string | null
  offset: number
  length: number | null
  crc32: number
  bucket: string
  key: string
  multipartId: string | null
  /** The lines of its timeline. */
  history: string[]
  erased: boolean
}

type EventRow = {
  id: string
  fileId: string
  payload: string
  status: string
  deliveries: string[] | null
}

/** Waits until nothing is in progress. */
export async function waitForTheEnd(world: World, log: Log, withinMs: number): Promise<void> {
  const { db } = world.database
  const deadline = Date.now() + withinMs
  for (;;) {
    const unrepaired = world.bucket.putOnly ? 0 : await askForRepairs(world)
    const [left] = await rows<Record<'files' | 'deliveries' | 'uncleared', number>>(
      db,
      sql`select
        (select count(*)::int from files where status = 'transferring' or lease_until > now()
          or counted_bytes < offset_bytes) as files,
        (select count(*)::int from deliveries where state = 'pending') as deliveries,
        (select count(*)::int from file_destinations where abort_pending) as uncleared`,
    )
    const all = { ...left, unrepaired }
    if (Object.values(all).every((count) => count === 0)) return
    if (Date.now() > deadline) return log.violation(`some work did not finish: ${JSON.stringify(all)}`)
    await sleep(200)
  }
}

/**
 * Requests repairs, like an owner who does not want to wait hours for the next attempt. Returns how many objects still
 * have to be copied.
 */
async function askForRepairs({ database: { db }, customer: { runtime, actor } }: World): Promise<number> {
  const lacking = await rows<{ fileId: string; dataStoreId: string; isWaiting: boolean }>(
    db,
    sql`select d.file_id as "fileId", d.data_store_id as "dataStoreId",
        d.repair_claim is null and coalesce(d.repair_at > now() + interval '2 seconds', true) as "isWaiting"
      from file_destinations d join files f on f.id = d.file_id
      where f.status = 'partially_transferred' and d.status = 'failed'`,
  )
  for (const { isWaiting, ...to } of lacking) if (isWaiting) await requestRepair(runtime, actor, to)
  return lacking.length
}

/**
 * Checks that every upload equals its source, that every event arrived, and that the ledger, the usage and the bucket
 * agree to the byte.
 */
export async function verify(
  world: World,
  log: Log,
  { outcomes, sources }: { outcomes: Outcome[]; sources: Source[] },
): Promise<void> {
  const places = await readFiles(world.database.db)
  const files = places.filter(({ id }, n) => places.findIndex((one) => one.id === id) === n)
  checkOutcomes(files, outcomes, log)
  checkDestinations(places, log)
  await verifyBucket(world, places, sources, log)
  await checkLedger(world.database.db, log)
  for (const node of world.nodes)
    if (node.output().includes(OWNERLESS)) log.violation(`${node.name} has ${OWNERLESS}`)
  await checkUsage(world.database.db, log)
  await checkEvents(world, files, log)
  for (const fault of world.receiver.faults) log.violation(fault)
  for (const file of files) log.count(`files ${file.status}`)
}

function readFiles(db: Db): Promise<FileRow[]> {
  return rows<FileRow>(
    db,
    sql`select f.id, f.filename, f.status, f.failure_reason as "failureReason", f.offset_bytes::float8 as "offset",
        f.length_bytes::float8 as length, f.crc32::float8 as crc32, d.bucket, d.key, d.multipart_id as "multipartId",
        f.erased_at is not null as erased, d.status as "destinationStatus", d.required as "isRequired",
        exists (select from file_timeline t where t.file_id = f.id and t.kind = 'destination_repaired') as "isRepaired",
        array(select t.kind from file_timeline t where t.file_id = f.id order by t.id) as history
      from files f join file_destinations d on d.file_id = f.id`,
  )
}

/** The statuses of a file that has arrived, which its client cannot distinguish. */
const ARRIVED = ['transferred', 'partially_transferred']

/**
 * Checks that a file is partially transferred if and only if its object is missing from a destination that is not
 * required.
 */
function checkDestinations(places: FileRow[], log: Log): void {
  for (const { id, status, destinationStatus, isRequired, bucket } of places) {
    const isStored = destinationStatus === 'transferred'
    const mayLack = status === 'partially_transferred' && !isRequired
    if (ARRIVED.includes(status) && isStored === mayLack)
      log.violation(`${id} is ${status}, and ${destinationStatus} at ${bucket}`)
  }
}

function checkOutcomes(files: FileRow[], outcomes: Outcome[], log: Log): void {
  const byId = new Map(files.map((file) => [file.id, file]))
  for (const { source, address, end } of outcomes) {
    const file = byId.get(address.split('/').at(-1)!)
    const isArrived = end === 'transferred' && ARRIVED.includes(file?.status ?? '')
    if (file?.status !== end && !isArrived)
      log.violation(`${source.name} ${address} is ${file?.status}, not ${end}; ${file?.failureReason ?? ''}`)
  }
  const known = new Set(outcomes.map(({ address }) => address.split('/').at(-1)!))
  for (const { id, status, failureReason } of files) {
    if (status !== 'failed') continue
    // The client never got the upload's address, and created the file again.
    if (failureReason === 'interrupted' && !known.has(id))
      log.count('creations cut off during their first bytes')
    else log.violation(`${id} failed: ${failureReason}`)
  }
}

/**
 * Checks that the parts and the tail of each unfinished upload, or of each of its lanes, are contiguous up to its offset,
 * and that no other file has any.
 */
export async function checkLedger(db: Db, log: Log): Promise<void> {
  const broken = await rows<{ id: string; offset: number; sum: number; gaps: number }>(
    db,
    sql`
    with piece as (
      select coalesce(lane.id, p.file_id) as file_id, p.offset_bytes - coalesce(lane.first_byte, 0) as offset_bytes, p.size_bytes
      from file_parts p left join files lane on lane.lane_of = p.file_id
        and p.offset_bytes >= lane.first_byte and p.offset_bytes < lane.first_byte + lane.length_bytes
      union all select file_id, offset_bytes, ${tailBytes} from upload_tails
    ), chain as (
      select *, lag(offset_bytes + size_bytes, 1, 0::bigint) over (partition by file_id order by offset_bytes) as due
      from piece
    ), summed as (
      select file_id, sum(size_bytes) as sum, count(*) filter (where offset_bytes <> due) as gaps
      from chain group by 1
    )
    select f.id, f.offset_bytes::float8 as "offset", coalesce(s.sum, 0)::float8 as sum, coalesce(s.gaps, 0)::int as gaps
    from files f left join summed s on s.file_id = f.id left join files whole on whole.id = f.lane_of
    where (f.status = 'uploading' and f.lanes is null and (coalesce(s.sum, 0) <> f.offset_bytes or s.gaps > 0))
      or (coalesce(whole.status, f.status) not in ('uploading', 'transferring') and s.sum > 0)`,
  )
  for (const { id, offset, sum, gaps } of broken)
    log.violation(`the ledger of ${id} has ${sum} bytes and ${gaps} gaps for an offset of ${offset}`)
}

export async function checkUsage(db: Db, log: Log): Promise<void> {
  const [sums] = await rows<Record<'accepted' | 'reserved' | 'used' | 'held' | 'days', number>>(
    db,
    sql`select
      (select coalesce(sum(offset_bytes), 0)::float8 from files where lanes is null) as accepted,
      (select coalesce(sum(reserved_bytes), 0)::float8 from files) as reserved,
      (select coalesce(sum(used_bytes), 0)::float8 from usage_months) as used,
      (select coalesce(sum(reserved_bytes), 0)::float8 from usage_months) as held,
      (select coalesce(sum(bytes), 0)::float8 from usage_days) as days`,
  )
  const { accepted, reserved, used, held, days } = sums!
  if (used !== accepted) log.violation(`the usage is ${used} bytes, but the files have ${accepted}`)
  if (days !== accepted)
    log.violation(`the daily usage adds up to ${days} bytes, but the files have ${accepted}`)
  if (held !== reserved) log.violation(`the usage reserves ${held} bytes, but the files reserve ${reserved}`)
}

/**
 * Checks that there is one event for each final status of a file, and that the receiver accepted it under a single id,
 * with the bytes that were written.
 */
async function checkEvents({ database, receiver }: World, files: FileRow[], log: Log): Promise<void> {
  const events = await rows<EventRow>(
    database.db,
    sql`select e.id, e.file_id as "fileId", e.payload, e.payload::json->'data'->>'status' as status,
        (select array_agg(state) from deliveries d where d.event_id = e.id) as deliveries
      from events e where e.kind = 'file.status_changed' order by e.id`,
  )
  for (const file of files) {
    const own = events.filter(({ fileId }) => fileId === file.id).map(({ status }) => status)
    const ends = file.isRepaired ? ['partially_transferred', file.status] : [file.status]
    // A rejected creation is erased without being reported.
    const due = file.erased || ['uploading', 'transferring'].includes(file.status) ? [] : ends
    if (file.isRepaired) log.count('files repaired')
    if (own.join() !== due.join()) log.violation(`${file.id} is ${file.status} and has the events ${own}`)
  }
  for (const { id, payload, deliveries } of events) {
    const received = receiver.events.get(id)
    if (deliveries?.join() !== 'delivered') log.violation(`event ${id} has the deliveries ${deliveries}`)
    if (!received?.accepted) log.violation(`event ${id} never reached its receiver`)
    else if (received.body !== payload)
      log.violation(`event ${id} arrived with different bytes than were written`)
    log.count('delivery attempts', received?.attempts ?? 0)
  }
  const known = new Set(events.map(({ id }) => id))
  for (const id of receiver.events.keys())
    if (!known.has(id)) log.violation(`the receiver got event ${id} that is not recorded`)
  log.count('events', events.length)
}
