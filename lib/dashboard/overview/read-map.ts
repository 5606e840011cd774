import { sql } from 'drizzle-orm'
import { type FileStatus, IS_FILE } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import { days, seconds } from '../../platform/kernel/clock.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { PIPE_DESTINATIONS } from '../../workspace/pipes/destinations.ts'
import { drawMap, type MapInput, type MapShape } from './draw-map.ts'

/** The most Pipes, Data Stores and outputs that are read. */
const MOST = 1000
/** The most open files of each status, and pending webhooks, that are counted: each of them may be on a page of its own. */
const MOST_OPEN = 250
/** An upload is moving while bytes are confirmed at least this often. */
const MOVING_MS = seconds(10)

/** The workspace's sources, Pipes, Data Stores and webhook outputs, and how the bytes of the last day flow between them. */
export async function readMap({ db, clock }: CoreRuntime, { workspaceId }: Actor): Promise<MapShape> {
  const mine = sql`workspace_id = ${workspaceId}::uuid`
  const since = (ms: number) => sql`${new Date(clock.now() - ms).toISOString()}::timestamptz`
  // Only the index by workspace and status has this order. With an equal status, PostgreSQL may scan newer files of any
  // status and workspace for the first rows.
  const newest = (status: FileStatus) => sql`(select pipe_id, status, decision, last_byte_at from files
    where ${mine} and status between ${status} and ${status} and erased_at is null and ${IS_FILE}
    order by status desc, id desc limit ${MOST_OPEN}::int)`
  const [pipes, stores, outputs] = await Promise.all([
    rows<MapInput['pipes'][number]>(
      db,
      sql`with counted as (
        select pipe_id, sum(transferred)::int as transferred, sum(failed + expired)::int as lost
        from counts where ${mine} and span = 'quarter' and at > ${since(days(1))} and pipe_id <> '' group by 1
      ), newest as (
        ${newest('uploading')} union all ${newest('transferring')}
      ), open as (
        select pipe_id, (count(*) filter (where status = 'uploading'))::int as uploading,
          (count(*) filter (where decision in ('asked', 'deferred')))::int as awaiting,
          bool_or(status = 'uploading' and last_byte_at > ${since(MOVING_MS)}) as moving
        from newest group by 1
      ), sent as (
        select d.pipe_id, array_agg(d.data_store_id::text order by d.position) as stores
        from pipes p join ${PIPE_DESTINATIONS} d on d.pipe_id = p.id where p.${mine} group by 1
      )
      select p.id, p.name, array_remove(array[case when p.source_http then 'HTTP (TUS)' end,
          case when p.source_url then 'URL' end, case when p.source_sftp then 'SFTP' end,
          case when p.source_ftps then 'FTPS' end, case when p.source_ftp then 'FTP' end], null) as sources,
        s.stores,
        coalesce(c.transferred, 0) as transferred, coalesce(c.lost, 0) as lost, coalesce(o.uploading, 0) as uploading,
        coalesce(o.awaiting, 0) as awaiting, coalesce(o.moving, false) as moving,
        (select max(n) from (select count(*) as n from newest group by status) each) >= ${MOST_OPEN}::int is true as "isPartial"
      from pipes p left join sent s on s.pipe_id = p.id left join counted c on c.pipe_id = p.id left join open o on o.pipe_id = p.id
      where p.workspace_id = ${workspaceId}::uuid and p.deleted_at is null
      order by p.created_at desc limit ${MOST}::int`,
    ),
    rows<MapInput['stores'][number]>(
      db,
      sql`select id, name, case when rejecting_since is not null then 'rejecting uploads'
          when turned_off_at is not null then 'turned off' when ready_at is null then 'not ready' end as fault from data_stores
        where ${mine} and deleted_at is null order by created_at desc limit ${MOST}::int`,
    ),
    rows<MapInput['outputs'][number]>(
      db,
      sql`with pending as (
        select webhook_output_id, attempt_count from deliveries
        where ${mine} and state = 'pending' order by id desc limit ${MOST_OPEN}::int
      ), retried as (
        select webhook_output_id, count(*)::int as retrying from pending where attempt_count > 0 group by 1
      )
      select o.id, o.name, o.url, o.scope, coalesce(r.retrying, 0) as retrying,
        (select count(*) from pending) = ${MOST_OPEN}::int as "isPartial",
        case when not o.enabled then case when o.turned_off_reason is null then 'off' else 'turned off' end end as fault
      from webhook_outputs o left join retried r on r.webhook_output_id = o.id
      where ${mine} order by o.id desc limit ${MOST}::int`,
    ),
  ])
  return drawMap({ pipes, stores, outputs })
}
