import { type SQL, sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/index.ts'
import { byteaParam, type Db, rows } from '../../platform/db/database.ts'
import { span } from '../../platform/tracing/span.ts'
import { countBytes, counting, deltas } from '../../workspace/usage/count-bytes.ts'
import { assertWithinQuota, type Quota } from '../../workspace/usage/reserve.ts'
import type { Checksums } from '../rules/checksums.ts'
import type { FileDecision } from '../rules/decision.ts'
import type { Hashed } from '../rules/file-hash.ts'
import type { Bound } from '../rules/part-numbers.ts'
import type { SealedTail } from '../rules/tail-cipher.ts'
import { fileOfLane, holdsWriter, touched } from './lanes.ts'
import { type Fenced, heldBy, lostLease, released } from './lease-terms.ts'
import { boundColumns, insertPart, type RecordedPart } from './part-rows.ts'
import { insertNote, type TimelineNote } from './timeline.ts'

/**
 * Moves a confirmed offset forward, from exactly where the writer believes it to be, while the writer holds the lease.
 * The same statement records the part or tail that makes the bytes durable, and the usage. Only the end of a file
 * moves its offset otherwise.
 */
export type Advance = {
  fromBytes: number
  toBytes: number
  /** The checksum of all confirmed bytes, including the new ones. */
  crc32: number
  /** The SHA-256 of all confirmed bytes, including the new ones, if the Pipe computes it. */
  hashed?: Hashed | undefined
  /** A part that the bucket has accepted. The tails it contains are deleted. */
  part?: RecordedPart
  /** Bytes stored only in the database; `staged` if they are already there. */
  tail?: SealedTail | 'staged'
  /** The ranges now bound to the numbers after the last recorded part. */
  bound?: Bound
  /** Set for an upload of unknown length: it has no reservation, so each step checks the quota. */
  unreserved?: Quota | undefined
  /** Set if every byte is durable: of a file, whose object has to be created, or only of a lane. */
  become?: 'transferring' | 'transferred'
  /** For a lane: its file. */
  laneOf?: string | undefined
  /** Also releases the lease. */
  release?: { interrupted: boolean }
  note?: TimelineNote
  /** The detected type of the file's first bytes. */
  foundType?: string | undefined
}

export function advance(db: Db, lease: Fenced, change: Advance, nowMs: number): Promise<void> {
  const { unreserved, toBytes } = change
  const statement = sql`with ${sql.join(steps(lease, change, nowMs), sql`, `)} select id from moved`
  const move = async (tx: Db) => {
    if ((await rows(tx, statement)).length === 0) throw lostLease()
  }
  const moveWithin = (quota: Quota) =>
    db.transaction(async (tx) => {
      await move(tx)
      await assertWithinQuota(tx, lease.rowId, quota, nowMs)
    })
  return span('ledger advance', () => (unreserved ? moveWithin(unreserved) : move(db)), {
    attributes: () => ({ 'sluice.offset': toBytes }),
  })
}

function steps(lease: Fenced, change: Advance, nowMs: number): SQL[] {
  const { fromBytes, part, tail, become, note, laneOf } = change
  const all = [writer(lease, fromBytes), moved(change, nowMs)]
  if (isCounted(change)) all.push(countBytes(sql`moved`, nowMs))
  if (part)
    all.push(
      insertPart(part, sql`moved`),
      sql`untailed as (delete from upload_tails t using moved
        where t.file_id = moved.id and t.offset_bytes < ${change.toBytes}::bigint)`,
    )
  if (tail && tail !== 'staged')
    all.push(
      sql`tailed as (insert into upload_tails (file_id, offset_bytes, key, bytes)
        select id, ${fromBytes}::bigint, ${tail.key}, ${byteaParam(tail.bytes)} from moved)`,
    )
  if (laneOf) all.push(touched(laneOf, at(nowMs)))
  if (become === 'transferring')
    all.push(
      sql`going as (update file_destinations d set status = ${become} from moved
        where d.file_id = moved.id and d.status <> 'failed')`,
    )
  if (note)
    all.push(sql`noted as (${insertNote(note, sql`(select file_id as id from moved) of_file`, nowMs)})`)
  return all
}

function writer(lease: Fenced, fromBytes: number): SQL {
  return sql`writer as (
    select id, reserved_bytes, counted_bytes from files
    where id = ${lease.rowId}::uuid and ${heldBy(lease)}
      and offset_bytes = ${fromBytes}::bigint and status = 'uploading'
    for update)`
}

/** Usage is counted with the last piece of a request or, for an upload without a reservation, with every piece. */
function isCounted({ release, become, unreserved }: Advance): boolean {
  return Boolean(release ?? become ?? unreserved)
}

const at = (nowMs: number): SQL => sql`${new Date(nowMs).toISOString()}::timestamptz`

function moved(change: Advance, nowMs: number): SQL {
  const { toBytes, crc32, hashed, tail, become, release, bound, foundType } = change
  const now = at(nowMs)
  const changes = [
    sql`offset_bytes = ${toBytes}::bigint, crc32 = ${crc32}::bigint, status = ${become ?? 'uploading'}`,
    sql`first_byte_at = coalesce(f.first_byte_at, ${now}), last_byte_at = ${now}`,
    sql`expires_at = least(${now} + f.expiry_seconds * interval '1 second', f.expires_by)`,
  ]
  if (hashed)
    changes.push(
      sql`sha256 = ${hashed.sha256}, sha256_bytes = ${toBytes}::bigint, sha256_state = ${hashed.state}`,
    )
  if (isCounted(change)) changes.push(counting(sql`writer`, sql`${toBytes}::bigint`, nowMs))
  if (bound) changes.push(boundColumns(bound))
  if (foundType !== undefined) changes.push(sql`found_type = ${foundType}`)
  // If a hook decides on the file, Complete is not sent yet.
  if (become === 'transferring')
    changes.push(
      sql`complete_sent_at = case when f.decision is null then ${now} end, decision = case when f.decision is not null then 'asked' end`,
    )
  // The tail still has to be sent as the last part, so no Complete can have been sent.
  if (become === 'transferring' && tail)
    changes.push(
      sql`complete_refused = exists (select from file_destinations where file_id = f.id and multipart_id is not null)`,
    )
  if (release) changes.push(sql`${released}, interrupted = ${release.interrupted}::boolean`)
  return sql`moved as (
    update files f set ${sql.join(changes, sql`, `)}
    from writer where f.id = writer.id
    returning f.id, ${fileOfLane(sql`f`)} as file_id, f.first_byte, ${deltas(sql`writer`)})`
}

/**
 * The SHA-256 of a row of `files`, and the state with which it continues. Unknown if a node of the previous version has moved
 * the offset without them.
 */
export const sha256Of = (file: SQL): SQL =>
  sql`case when ${file}.sha256_bytes = ${file}.offset_bytes then ${file}.sha256 end`
export const hashStateOf = (file: SQL): SQL =>
  sql`case when ${file}.sha256_bytes = ${file}.offset_bytes then ${file}.sha256_state end`

type Standing = {
  offsetBytes: number
  lengthBytes: number | null
  lengthCameLast: boolean | null
  status: FileStatus
  decision: Pick<FileDecision, 'state'> | null
}

export async function currentOffset(db: Db, fileId: string): Promise<Standing | undefined> {
  const [row] = await rows<Standing>(
    db,
    sql`select offset_bytes as "offsetBytes", length_bytes as "lengthBytes", length_came_last as "lengthCameLast", status,
        case when decision is not null then json_build_object('state', decision) end as decision
      from files where id = ${fileId}::uuid`,
  )
  return row
}

/**
 * Records that a client was interrupted, as its request for the offset shows, or that for the offsets of all lanes. Even
 * if none of its requests were cut off, it was paused, offline or reloaded between two of them. Its next request counts
 * as a resume.
 */
export async function markInterrupted(db: Db, rowIds: readonly string[], nowMs: number): Promise<void> {
  const detail = sql`json_build_object('offsetBytes', offset_bytes)`
  await rows(
    db,
    sql`
    with broken as (
      update files set interrupted = true
      where id = any(${`{${rowIds.join()}}`}::uuid[]) and status = 'uploading' and offset_bytes > 0 and not interrupted
        and lease_until is null
      returning id, lane_of, offset_bytes
    )
    ${insertNote({ kind: 'offset_asked', detail }, sql`broken where lane_of is null`, nowMs)}`,
  )
}

/**
 * Records the checksums that a file's client declares, also with a request for one of its lanes, unless others have been
 * declared before. Returns the declared checksums.
 */
export async function declareChecksums(
  db: Db,
  fileId: string,
  lease: Fenced,
  { crc32, sha256 }: Checksums,
): Promise<Checksums> {
  const [row] = await rows<Checksums>(
    db,
    sql`update files f set declared_crc32 = coalesce(f.declared_crc32, ${crc32}::bigint),
        declared_sha256 = coalesce(f.declared_sha256, ${sha256})
      where id = ${fileId}::uuid and ${holdsWriter(fileId, lease)}
      returning declared_crc32 as crc32, declared_sha256 as sha256`,
  )
  if (!row) throw lostLease()
  return row
}
