import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { LaneRange } from '../rules/lane-plan.ts'
import { type Fenced, heldBy, isLeased, revoked } from './lease-terms.ts'
import type { NewMultipart } from './part-rows.ts'
import { insertNote } from './timeline.ts'

/**
 * The lanes of a file that is sent over several connections. A lane's row has what a writer needs: the lease, the
 * offset within the lane, the bound part numbers and the tail. Its parts and destinations are those of its file, and
 * the file's row changes only when the last lane is complete.
 */

/** The id of the file that a row `file` belongs to. */
export const fileOfLane = (file: SQL): SQL => sql`coalesce(${file}.lane_of, ${file}.id)`

/** A file's confirmed bytes, in whatever lane they are. */
export const offsetOf = (
  file: SQL,
): SQL => sql`case when ${file}.lanes is null or ${file}.status <> 'uploading' then ${file}.offset_bytes
  else (select sum(lane.offset_bytes)::bigint from files lane where lane.id = any(${file}.lanes)) end`

/** A lane expires with its file. */
export const expiryOf = (file: SQL): SQL => sql`case when ${file}.lane_of is null then ${file}.expires_at
  else (select whole.expires_at from files whole where whole.id = ${file}.lane_of) end`

/**
 * A step of the statement that moves a lane's offset: postpones the expiry of its file, and counts a resume. If another
 * lane is doing the same, or the file is ending, there is no need to wait for that.
 */
export function touched(fileId: string, now: SQL): SQL {
  return sql`touched as (update files whole set first_byte_at = coalesce(whole.first_byte_at, ${now}), last_byte_at = ${now},
      expires_at = least(${now} + whole.expiry_seconds * interval '1 second', whole.expires_by)
    from (select id from files where id = ${fileId}::uuid and exists (select from moved) for no key update skip locked) untouched
    where whole.id = untouched.id)`
}

/** How often the file of a lane `f` was resumed. */
export const resumesOfFile: SQL = sql`(select whole.resume_count from files whole where whole.id = f.lane_of)`

/**
 * Steps of the statement that takes a lane's lease, after `taken`. Each lane has the number of its file's resumes from
 * when its lease was last taken. If its file has been resumed since, the interruption is taken to be the one that was
 * counted for another lane. A resume is not counted while the file's row is locked: nobody waits for a count.
 */
export function countResume(nowMs: number): SQL {
  const detail = sql`json_build_object('offsetBytes', saved_bytes)`
  return sql`counted as (
      update files whole set resume_count = taken.resume_count, saved_bytes = ${offsetOf(sql`whole`)}
      from taken, (select id from files where id = (select lane_of from taken where resumed) for no key update skip locked) free
      where whole.id = free.id and whole.resume_count < taken.resume_count
      returning whole.id, whole.saved_bytes
    ), noted as (${insertNote({ kind: 'offset_asked', detail }, sql`counted`, nowMs)})`
}

/** A condition on a row of `files`: this writer still holds its lease, on the file or on a lane of it. */
export const holdsWriter = (fileId: string, lease: Fenced): SQL =>
  fileId === lease.rowId
    ? heldBy(lease)
    : sql`exists (select from files lane where lane.id = ${lease.rowId}::uuid and ${heldBy(lease)})`

/**
 * Divides a new file. Its lanes take over the quota that it has reserved. False if the file has already ended, or its
 * reservation has lapsed because this took so long.
 */
export async function insertLanes(
  db: Db,
  fileId: string,
  { lanes, partBytes, begun }: { lanes: readonly LaneRange[]; partBytes: number; begun: NewMultipart[] },
): Promise<boolean> {
  const ids = `{${lanes.map(({ id }) => id).join()}}`
  const inserted = await rows(
    db,
    sql`
    with whole as (
      update files set lanes = ${ids}::uuid[], part_bytes = ${partBytes}::bigint, reserved_bytes = 0
      where id = ${fileId}::uuid and status = 'uploading' and lease_fence = 0 and reserved_bytes = length_bytes returning *
    ), begun as (
      update file_destinations d set multipart_id = begun."multipartId", storage = begun.storage
      from whole, jsonb_to_recordset(${JSON.stringify(begun)}::jsonb) begun("dataStoreId" uuid, "multipartId" text, storage jsonb)
      where d.file_id = whole.id and d.data_store_id = begun."dataStoreId"
    )
    insert into files (id, lane_of, first_byte, length_bytes, reserved_bytes, recorded_parts, part_bytes, reserved_month, workspace_id,
      pipe_id, token_id, sender_id, sender_name, subject, protocol, filename, expiry_seconds, expires_at, expires_by, created_at)
    select lane.id, whole.id, lane."firstByte", lane."lengthBytes", lane."lengthBytes", lane."partsBefore", whole.part_bytes, reserved_month, workspace_id,
      pipe_id, token_id, sender_id, sender_name, subject, protocol, filename, expiry_seconds, expires_at, expires_by, created_at
    from whole, jsonb_to_recordset(${JSON.stringify(lanes)}::jsonb) lane(id uuid, "firstByte" bigint, "lengthBytes" bigint, "partsBefore" int)
    returning id`,
  )
  return inserted.length > 0
}

/** Makes `insertLanes` refuse to divide a file. */
export async function leaveUndivided(db: Db, fileId: string): Promise<void> {
  await rows(
    db,
    sql`update files f set ${revoked} where f.id = ${fileId}::uuid and f.lanes is null and f.lease_fence = 0`,
  )
}

export type LaneRow = { id: string; firstByte: number; lengthBytes: number; offsetBytes: number }
export type HeldLane = LaneRow & { leased: boolean; fence: number }

/** A file's lanes, in order. */
export function readLanes(db: Db, lanes: readonly string[]): Promise<HeldLane[]> {
  return rows(
    db,
    sql`select id, first_byte as "firstByte", length_bytes as "lengthBytes", offset_bytes as "offsetBytes",
      ${isLeased} as leased, lease_fence as fence from files where id = any(${`{${lanes.join()}}`}::uuid[]) order by first_byte`,
  )
}
