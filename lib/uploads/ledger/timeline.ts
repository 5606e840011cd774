import { type SQL, sql } from 'drizzle-orm'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { requestDetail } from '../../platform/kernel/request-context.ts'
import type { BucketRefusal } from '../bucket-port.ts'

/**
 * A line of a file's history, shown on the file page. Each line is written by the statement that performs the action.
 */
export type TimelineNote = {
  kind: string
  detail?: Record<string, string | number | boolean | null> | SQL
}

/** Inserts a line for each file in a step. The caller may append a WHERE clause. */
export function insertNote({ kind, detail = {} }: TimelineNote, from: SQL, nowMs: number): SQL {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  return insertNotes({ id: sql`${uuidv7(nowMs)}::uuid`, kind, detail, at: now }, from)
}

/** Like `insertNote`, for a step with several files: the line ids come from a column of `from`. */
export function insertNotes(
  { id, kind, detail = {}, at }: TimelineNote & { id: SQL; at: SQL },
  from: SQL,
): SQL {
  const json = 'queryChunks' in detail ? (detail as SQL) : sql`${JSON.stringify(detail)}::jsonb`
  return sql`insert into file_timeline (id, file_id, kind, detail, at) select ${id}, id, ${kind}, ${json}, ${at} from ${from}`
}

/** How many different reasons the timeline lists one after another. */
const MAX_REASONS = 10
/** The minimum time between two marks on a Data Store, so that many refused uploads do not wait for its row. */
const NOTED_EVERY_MS = 10_000

/**
 * Steps of a statement in which a step named `done` contains the file. They add the reason to its timeline and mark
 * the Data Store. While nothing else happens to the file, a repeated reason is counted on its existing line.
 */
export function noteRefusal({ code, reason, dataStoreId }: BucketRefusal, nowMs: number): SQL {
  const at = new Date(nowMs).toISOString()
  const now = sql`${at}::timestamptz`
  const last = sql`jsonb_build_object('reason', ${reason}::text, 'offsetBytes', done.offset_bytes, 'lastAt', ${at}::text)
    || ${JSON.stringify(requestDetail())}::jsonb`
  const detail = sql`${last} || jsonb_build_object('code', ${code}::text, 'times', 1)`
  return sql`recent as (
      select t.id, t.kind, t.detail->>'code' as code from file_timeline t
      where t.file_id = (select id from done) and t.id > (select id from done) order by t.id desc limit ${MAX_REASONS}
    ), refusals as (
      select r.id, r.code from recent r where r.kind = 'bucket_refused'
        and not exists (select from recent later where later.kind <> 'bucket_refused' and later.id > r.id)
    ), repeated as (
      update file_timeline t set detail = t.detail || ${last}
        || jsonb_build_object('times', (t.detail->>'times')::int + 1)
      from done where t.id = (select id from refusals where code = ${code} order by id limit 1)
    ), noted as (
      ${insertNote({ kind: 'bucket_refused', detail }, sql`done`, nowMs)}
      where ${code} not in (select code from refusals) and (select count(*) from refusals) < ${MAX_REASONS}
    ), rejecting as (
      update data_stores ds set rejecting_since = coalesce(ds.rejecting_since, ${now}), rejection = ${reason}::text,
        rejected_at = ${now}, recheck_at = coalesce(ds.recheck_at, ${now})
      where ds.id = (
        select s.id from done join file_destinations d on d.file_id = done.id
        join data_stores s on s.id = d.data_store_id
        where s.id = coalesce(${dataStoreId ?? null}::uuid, s.id) and (s.rejected_at is null or s.rejecting_since is null
          or s.rejected_at < ${now} - ${NOTED_EVERY_MS}::int * interval '1 millisecond')
        limit 1 for update of s skip locked
      )
    )`
}
