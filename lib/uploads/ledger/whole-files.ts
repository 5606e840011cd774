import { type SQL, sql } from 'drizzle-orm'
import { hasActiveOutput } from '../../events/outputs-of.ts'
import { tallyFiles } from '../../events/tally.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { GATHER_WRITES_MS, inGroups } from '../../platform/db/in-groups.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { countBytes, counting, deltas } from '../../workspace/usage/count-bytes.ts'
import type { Hashed } from '../rules/file-hash.ts'
import { type Fenced, heldBy, released } from './lease-terms.ts'
import { insertNotes } from './timeline.ts'
import type { StoredAt } from './transferred.ts'

/** A file whose only part was stored by a PutObject at each of its destinations. */
export type Whole = {
  workspaceId: string
  lease: Fenced
  fromBytes: number
  toBytes: number
  crc32: number
  hashed?: Hashed | undefined
  /** One for each destination of the file. */
  storedAt: readonly StoredAt[]
  /** The type detected from its first bytes, if that is not recorded yet. */
  foundType?: string | undefined
  /** Its Pipe had an active webhook when the request arrived. */
  hasWebhooks: boolean
}

type Deps = { db: Db; clock: Clock; emitEvents(tx: Db, ...fileIds: string[]): Promise<void> }

const CERTAINTY = sql`jsonb_build_object('certainty', certainty)`
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
        return group.map(({ lease }) => recorded.has(lease.rowId))
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
      update files f set offset_bytes = writer.to_bytes, crc32 = writer.crc32,
        sha256 = writer.sha256, sha256_bytes = writer.to_bytes, sha256_state = null, status = 'transferred', found_type = coalesce(writer.found_type, f.found_type),
        first_byte_at = coalesce(f.first_byte_at, ${now}), last_byte_at = ${now}, finished_at = ${now},
        expires_at = least(${now} + f.expiry_seconds * interval '1 second', f.expires_by),
        ${released}, interrupted = false,
        ${counting(sql`writer`, sql`writer.to_bytes`, nowMs)}
      from writer where f.id = writer.id
      returning f.id, f.sender_id, f.concat, f.status, f.decision, f.offset_bytes, f.created_at, ${deltas(sql`writer`)}
    ), ${countBytes(sql`moved`, nowMs)},
    untailed as (delete from upload_tails t using moved where t.file_id = moved.id),
    stored as (
      update file_destinations d set status = 'transferred', etag = known.etag, certainty = known.certainty, storage = known.storage
      from moved join writer using (id), jsonb_to_recordset(writer.stored_at)
        known("dataStoreId" uuid, etag text, certainty text, storage jsonb)
      where d.file_id = moved.id and d.data_store_id = known."dataStoreId"
    ), noted as (
      ${insertNotes({ id: sql`note_id`, kind: 'completed', detail: CERTAINTY, at: now }, sql`moved join writer using (id)`)}
    )${hasWebhook ? sql`` : sql`, ${missed(now)}, ${tallyFiles(sql`moved`, nowMs)}`}
    select id from moved`,
  )
  return new Set(moved.map(({ id }) => id))
}

/** The files sorted by id, as in every statement that locks several files. */
function wantedOf(group: Whole[], nowMs: number): SQL {
  const ordered = group.toSorted((a, b) => (a.lease.rowId < b.lease.rowId ? -1 : 1))
  const wanted = ordered.map(({ lease, fromBytes, toBytes, crc32, hashed, storedAt, foundType }) => ({
    id: lease.rowId,
    claim: lease.claim,
    from_bytes: fromBytes,
    to_bytes: toBytes,
    crc32,
    sha256: hashed?.sha256 ?? null,
    certainty: storedAt[0]!.certainty,
    stored_at: storedAt,
    found_type: foundType ?? null,
    note_id: uuidv7(nowMs),
    event_id: uuidv7(nowMs),
  }))
  return sql`json_to_recordset(${JSON.stringify(wanted)}::json) as wanted(id uuid, claim text, from_bytes bigint,
    to_bytes bigint, crc32 bigint, sha256 text, certainty text, stored_at jsonb, found_type text, note_id uuid, event_id uuid)`
}

/** The limit makes PostgreSQL look up each row by index, in this order, whatever row count the planner estimates. */
function writers(provided: SQL): SQL {
  return sql`select wanted.*, f.reserved_bytes, f.counted_bytes
    from wanted cross join lateral (select * from files where id = wanted.id limit 1 for update) f
    where ${heldBy({ claim: sql`wanted.claim` })} and f.offset_bytes = wanted.from_bytes
      and f.status = 'uploading' and ${provided}`
}
