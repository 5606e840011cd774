import { type SQL, sql } from 'drizzle-orm'
import type { DestinationReason, ObjectStorage } from '#drizzle/schema/index.ts'
import { hasActiveOutput } from '../../events/outputs-of.ts'
import { tallyFiles } from '../../events/tally.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { GATHER_WRITES_MS, inGroups } from '../../platform/db/in-groups.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { countBytes, counting, deltas } from '../../workspace/usage/count-bytes.ts'
import { type Fenced, heldBy, released } from './lease-terms.ts'
import { deleteBytes, storageColumn } from './parts.ts'
import { insertNote, insertNotes } from './timeline.ts'

/**
 * The three ways for a file to become `transferred`: its object was created from parts, found in the bucket, or stored
 * by a single PutObject. Each deletes the parts and tails and releases the lease. Their callers write the event in the
 * same transaction.
 */
export type Delivered = {
  etag: string | null
  certainty: 'answered' | 'confirmed' | 'inferred'
  /**
   * The settings that the Data Store adds to those of an object stored by PutObject. For an object made of parts, they
   * are recorded with the first part.
   */
  storage?: ObjectStorage | null
}

const CERTAINTY = sql`jsonb_build_object('certainty', certainty)`

/** Records that the object exists, deletes the file's parts and tails, and releases the lease. False if the lease was lost. */
export async function markTransferred(
  tx: Db,
  lease: Fenced,
  { etag, certainty, storage }: Delivered,
  nowMs: number,
): Promise<boolean> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const marked = await rows(
    tx,
    sql`
    with done as (
      update files set status = 'transferred', finished_at = ${now}, ${released}
      where id = ${lease.fileId}::uuid and ${heldBy(lease)}
        and status = 'transferring'
      returning id
    ), stored as (
      update file_destinations d set status = 'transferred', etag = ${etag}, certainty = ${certainty}${storageColumn(storage)}
      from done where d.file_id = done.id
    ), noted as (${insertNote({ kind: 'completed', detail: { certainty } }, sql`done`, nowMs)})
    select id from done`,
  )
  if (marked.length > 0) await deleteBytes(tx, lease.fileId)
  return marked.length > 0
}

/** What is known about an object; its length and checksum may have been lost with the commits that contained them. */
export type Found = {
  etag: string | null
  lengthBytes?: number | null | undefined
  crc32?: number | undefined
  /** For a file with several destinations, instead of the ETag. */
  several?: FoundAtEach | undefined
}

export type FoundAtEach = {
  status: 'transferred' | 'partially_transferred'
  /** All destinations. If one has already failed, the ledger has the reason. */
  destinations: readonly FoundDestination[]
}
type FoundDestination = {
  dataStoreId: string
  status: 'transferred' | 'failed'
  etag: string | null
  reason: DestinationReason | null
  detail: string | null
}

/**
 * If a hook decides on the file, the object only exists because the hook allowed it, even if a restored database does
 * not know that.
 */
const ALLOWED = sql`case when f.decision is not null then 'allowed' end`

/**
 * Records that the complete object exists, even if the ledger only has some of its bytes because the database was
 * restored from an earlier backup. False if the lease was lost, or for an unfinished partial upload, because the
 * checksum needed for joining is lost.
 */
export async function markFound(
  tx: Db,
  lease: Fenced,
  { etag, lengthBytes, crc32, several }: Found,
  nowMs: number,
): Promise<boolean> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const found = await rows(
    tx,
    sql`
    with open as (
      select id, status, reserved_bytes, counted_bytes, coalesce(length_bytes, ${lengthBytes ?? null}::bigint) as length_bytes
      from files where id = ${lease.fileId}::uuid and ${heldBy(lease)}
        and (status = 'transferring' or status = 'uploading' and concat is distinct from 'partial')
      for update
    ), done as (
      update files f set status = ${several?.status ?? 'transferred'}, offset_bytes = open.length_bytes, length_bytes = open.length_bytes,
        crc32 = coalesce(${crc32 ?? null}::bigint, f.crc32), decision = ${ALLOWED}, finished_at = ${now}, ${released}, interrupted = false,
        ${counting(sql`open`, sql`open.length_bytes`, nowMs)}
      from open where f.id = open.id
      returning f.id, case open.status when 'uploading' then 'found' else 'confirmed' end as certainty, ${deltas(sql`open`)}
    ), ${countBytes(sql`done`, nowMs)}, stored as (${several ? storedAtEach(several, now) : storedAtOne(etag)}
    ), noted as (${insertNote({ kind: 'completed', detail: CERTAINTY }, sql`done`, nowMs)})
    select id from done`,
  )
  if (found.length > 0) await deleteBytes(tx, lease.fileId)
  return found.length > 0
}

const storedAtOne = (etag: string | null) =>
  sql`update file_destinations d set status = 'transferred', etag = ${etag}, certainty = done.certainty
      from done where d.file_id = done.id`

/** Destinations without the object become due for repair immediately. */
const storedAtEach = ({ destinations }: FoundAtEach, now: SQL) =>
  sql`update file_destinations d set status = known.status, etag = known.etag,
        certainty = case known.status when 'transferred' then done.certainty end,
        reason = case known.status when 'failed' then coalesce(d.reason, known.reason) end,
        reason_detail = case known.status when 'failed' then coalesce(d.reason_detail, known.detail) end,
        abort_pending = known.status = 'failed' and d.multipart_id is not null, abort_at = ${now},
        repair_at = case known.status when 'failed' then ${now} end
      from done, jsonb_to_recordset(${JSON.stringify(destinations)}::jsonb)
        known("dataStoreId" uuid, status text, etag text, reason text, detail text)
      where d.file_id = done.id and d.data_store_id = known."dataStoreId"`

/** A file stored by one PutObject. */
export type Whole = {
  workspaceId: string
  lease: Fenced
  fromBytes: number
  toBytes: number
  crc32: number
  delivered: Delivered
  /** The type detected from its first bytes, if that is not recorded yet. */
  foundType?: string | undefined
  /** Its Pipe had an active webhook when the request arrived. */
  hasWebhooks: boolean
}

type Deps = { db: Db; clock: Clock; emitEvents(tx: Db, ...fileIds: string[]): Promise<void> }

const MAX_AT_ONCE = 50
const NO_ACTIVE_WEBHOOK = sql`not ${hasActiveOutput(sql`f.pipe_id`, sql`f.workspace_id`)}`

/**
 * Records the file, its usage and its event in one transaction. Every file updates its workspace's usage row for the
 * month, so files that finish at the same time are recorded together. False if the file's lease was lost: nothing
 * changes for this file, and the other files are still recorded.
 */
export function createWholeRecorder({ db, clock, emitEvents }: Deps): (whole: Whole) => Promise<boolean> {
  const together = (record: (group: Whole[]) => Promise<ReadonlySet<string>>) =>
    inGroups<Whole, boolean>(
      async (group) => {
        const recorded = await record(group)
        return group.map(({ lease }) => recorded.has(lease.fileId))
      },
      { most: MAX_AT_ONCE, gatherMs: GATHER_WRITES_MS, keyOf: ({ workspaceId }) => workspaceId },
    )
  const withoutWebhook = together((group) => record(db, group, clock.now(), { hasWebhook: false }))
  const withWebhook = together((group) =>
    db.transaction(async (tx) => {
      const recorded = await record(tx, group, clock.now(), { hasWebhook: true })
      if (recorded.size > 0) await emitEvents(tx, ...recorded)
      return recorded
    }),
  )
  // Without a webhook, one statement records the event as missed, unless the Pipe has a webhook by now.
  return async (whole) => (!whole.hasWebhooks && (await withoutWebhook(whole))) || withWebhook(whole)
}

/** Records the events as missed, as `emitFileEvent` does if there is no webhook. */
const missed = (now: SQL) => sql`missed as (
      insert into events (id, workspace_id, pipe_id, file_id, missed_status, fanned_out, created_at)
      select event_id, workspace_id, pipe_id, id, 'transferred', true, ${now} from moved join writer using (id)
      where concat is distinct from 'partial'
    )`

/** Does what `advance` does, for many finished files. Returns those whose lease was not lost. */
async function record(
  db: Db,
  group: Whole[],
  nowMs: number,
  { hasWebhook }: { hasWebhook: boolean },
): Promise<ReadonlySet<string>> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const moved = await rows<{ id: string }>(
    db,
    sql`
    with wanted as (select * from ${wantedOf(group, nowMs)}),
    writer as (${writers(hasWebhook ? sql`true` : NO_ACTIVE_WEBHOOK)}),
    moved as (
      update files f set offset_bytes = writer.to_bytes, crc32 = writer.crc32, status = 'transferred', found_type = coalesce(writer.found_type, f.found_type),
        first_byte_at = coalesce(f.first_byte_at, ${now}), last_byte_at = ${now}, finished_at = ${now},
        expires_at = least(${now} + f.expiry_seconds * interval '1 second', f.expires_by),
        ${released}, interrupted = false,
        ${counting(sql`writer`, sql`writer.to_bytes`, nowMs)}
      from writer where f.id = writer.id
      returning f.id, f.concat, f.status, f.offset_bytes, f.created_at, ${deltas(sql`writer`)}
    ), ${countBytes(sql`moved`, nowMs)},
    untailed as (delete from upload_tails t using moved where t.file_id = moved.id),
    stored as (
      update file_destinations d set status = 'transferred', etag = writer.etag, certainty = writer.certainty, storage = writer.storage
      from moved join writer using (id) where d.file_id = moved.id
    ), noted as (
      ${insertNotes({ id: sql`note_id`, kind: 'completed', detail: CERTAINTY, at: now }, sql`moved join writer using (id)`)}
    )${hasWebhook ? sql`` : sql`, ${missed(now)}, ${tallyFiles(sql`moved`, nowMs)}`}
    select id from moved`,
  )
  return new Set(moved.map(({ id }) => id))
}

/** The files sorted by id, as in every statement that locks several files. */
function wantedOf(group: Whole[], nowMs: number): SQL {
  const ordered = group.toSorted((a, b) => (a.lease.fileId < b.lease.fileId ? -1 : 1))
  const wanted = ordered.map(({ lease, fromBytes, toBytes, crc32, delivered, foundType }) => ({
    id: lease.fileId,
    claim: lease.claim,
    from_bytes: fromBytes,
    to_bytes: toBytes,
    crc32,
    etag: delivered.etag,
    certainty: delivered.certainty,
    storage: delivered.storage ?? null,
    found_type: foundType ?? null,
    note_id: uuidv7(nowMs),
    event_id: uuidv7(nowMs),
  }))
  return sql`json_to_recordset(${JSON.stringify(wanted)}::json) as wanted(id uuid, claim text, from_bytes bigint,
    to_bytes bigint, crc32 bigint, etag text, certainty text, storage jsonb, found_type text, note_id uuid, event_id uuid)`
}

/** The limit makes PostgreSQL look up each row by index, in this order, whatever row count the planner estimates. */
function writers(provided: SQL): SQL {
  return sql`select wanted.*, f.reserved_bytes, f.counted_bytes
    from wanted cross join lateral (select * from files where id = wanted.id limit 1 for update) f
    where ${heldBy({ claim: sql`wanted.claim` })} and f.offset_bytes = wanted.from_bytes
      and f.status = 'uploading' and ${provided}`
}
