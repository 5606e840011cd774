import { type SQL, sql } from 'drizzle-orm'
import { IS_FILE } from '#drizzle/schema/index.ts'
import { LAST_SEEN } from '../../identity/sessions/sessions.ts'
import { rows } from '../../platform/db/database.ts'
import { type Standby, standbyOf } from '../../platform/db/primary.ts'
import { seconds } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'

/**
 * The parts of workspaces that operators can see: names of workspaces and members, counts and limits, but never a file
 * name, a subject, an object key or a secret.
 */
export type SeenWorkspace = {
  id: string
  name: string
  demo: boolean
  createdAt: string
  members: number
  owner: string | null
  usedBytes: number
  transferLimitBytes: number | null
  uploadsUnderWay: number
  problems: number
  suspendedAt: string | null
  deleteAfter: string | null
}
export type WholeWorkspace = SeenWorkspace & {
  suspendedReason: string | null
  tokensPerSecond: number | null
  memorySharePercent: number | null
  maxFileBytes: number | null
  people: { email: string; role: string; lastSeenAt: string | null; hasSecondFactor: boolean }[]
  alerts: { kind: string; subject: string; raisedAt: string }[]
}

/** The kinds of alerts that also concern an operator. */
const PROBLEMS = sql`('bucket_rejects', 'output_off', 'output_failing', 'hook_failing', 'copies_missing')`
const PAGE = 50
const MOST_PEOPLE = 200
/** Counting stops at this number, which is precise enough. */
export const MOST_COUNTED = 1000

/** Lists workspaces, newest first, filtered by part of the workspace's name or of a member's address. */
export async function seeWorkspaces(
  { db, clock }: CoreRuntime,
  { search, before }: { search?: string | undefined; before?: string | undefined },
): Promise<{ data: SeenWorkspace[]; next: string | null }> {
  const like = search && `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`
  const found = await rows<SeenWorkspace>(
    db,
    sql`select ${columns(clock.now())} from workspaces w where
      ${before && isUuid(before) ? sql`w.id < ${before}::uuid` : sql`true`}
      and ${
        like
          ? sql`(w.name ilike ${like} or exists (select from members m join users u on u.id = m.user_id
        where m.workspace_id = w.id and u.email ilike ${like}))`
          : sql`true`
      }
      order by w.id desc limit ${PAGE + 1}`,
  )
  const data = found.slice(0, PAGE)
  return { data, next: found.length > PAGE ? data.at(-1)!.id : null }
}

export async function seeWorkspace({ db, clock }: CoreRuntime, id: string): Promise<WholeWorkspace> {
  const [found] = isUuid(id)
    ? await rows<Omit<WholeWorkspace, 'people' | 'alerts'>>(
        db,
        sql`select ${columns(clock.now())}, w.suspended_reason as "suspendedReason",
          w.tokens_per_second as "tokensPerSecond", w.memory_share_percent as "memorySharePercent", w.max_file_bytes as "maxFileBytes"
          from workspaces w where w.id = ${id}::uuid`,
      )
    : []
  if (!found) throw new SluiceError('not_found', 'There is no such workspace.')
  const people = await rows<WholeWorkspace['people'][number]>(
    db,
    sql`select u.email, m.role, ${LAST_SEEN} as "lastSeenAt",
        exists (select from second_factors f where f.user_id = u.id and f.enabled_at is not null) as "hasSecondFactor"
      from members m join users u on u.id = m.user_id where m.workspace_id = ${id}::uuid
      order by m.created_at limit ${MOST_PEOPLE}`,
  )
  const alerts = await rows<WholeWorkspace['alerts'][number]>(
    db,
    sql`select kind, subject, raised_at as "raisedAt" from alerts
      where workspace_id = ${id}::uuid and cleared_at is null
        and kind in ${PROBLEMS} order by raised_at desc limit ${PAGE}`,
  )
  return { ...found, people, alerts }
}

function columns(nowMs: number): SQL {
  const month = new Date(nowMs).toISOString().slice(0, 7)
  return sql`w.id, w.name, w.demo, w.created_at as "createdAt", w.suspended_at as "suspendedAt",
    w.delete_after as "deleteAfter", w.transfer_limit_bytes as "transferLimitBytes",
    (select count(*)::int from members m where m.workspace_id = w.id) as members,
    (select u.email from members m join users u on u.id = m.user_id
      where m.workspace_id = w.id and m.role = 'owner' order by m.created_at limit 1) as owner,
    coalesce((select used_bytes from usage_months u where u.workspace_id = w.id and u.month = ${month}), 0) as "usedBytes",
    (select count(*)::int from (select from files f where f.workspace_id = w.id and f.status = 'uploading' and ${IS_FILE}
      limit ${MOST_COUNTED}) open) as "uploadsUnderWay",
    (select count(*)::int from alerts a where a.workspace_id = w.id and a.cleared_at is null
      and a.kind in ${PROBLEMS}) as problems`
}

/** The state of the entire service: its nodes, its backlog, and problems in any workspace. */
export type SeenNode = {
  id: string
  version: string
  roles: string[]
  startedAt: string
  seenAt: string
  uploads: number
  memoryUsedBytes: number
  memoryBytes: number
  silent: boolean
}
export type Backlog = { what: string; waiting: number; oldestAt: string | null }
export type Failure = {
  workspaceId: string
  workspace: string
  kind: string
  subject: string
  raisedAt: string
}

/** Three missed heartbeats. */
const SILENT_MS = seconds(30)
const MOST = 200
export const MOST_WAITING = 10_000

export async function seeNodes({ db, clock }: CoreRuntime): Promise<SeenNode[]> {
  const found = await rows<Omit<SeenNode, 'silent'>>(
    db,
    sql`select id, version, roles, started_at as "startedAt", seen_at as "seenAt", uploads,
        memory_used_bytes as "memoryUsedBytes", memory_bytes as "memoryBytes"
      from nodes order by started_at limit ${MOST}`,
  )
  return found.map((node) => ({ ...node, silent: Date.parse(node.seenAt) < clock.now() - SILENT_MS }))
}

export const seeStandby = ({ db }: Pick<CoreRuntime, 'db'>): Promise<Standby> => standbyOf(db)

export async function seeBacklogs({ db }: CoreRuntime): Promise<Backlog[]> {
  return rows<Backlog>(
    db,
    sql`
    select 'Webhook deliveries' as what, count(*)::int as waiting, min(created_at) as "oldestAt"
      from (select created_at from deliveries where state = 'pending' limit ${MOST_WAITING}) d
    union all select 'Objects to complete', count(*)::int, min(created_at)
      from (select created_at from files where status = 'transferring' and (decision is null or decision = 'allowed') limit ${MOST_WAITING}) f
    union all select 'Files waiting for a decision', count(*)::int, min(created_at)
      from (select created_at from files where status = 'transferring' and decision in ('asked', 'deferred') limit ${MOST_WAITING}) a
    union all select 'Uploads in progress', count(*)::int, min(created_at)
      from (select created_at from files where status = 'uploading' and ${IS_FILE} limit ${MOST_WAITING}) u`,
  )
}

/**
 * Lists problems in all workspaces, such as Data Stores that reject uploads. Each problem's `subject` is the name that
 * a customer gave to the affected item.
 */
export async function seeFailures({ db }: CoreRuntime): Promise<Failure[]> {
  return rows<Failure>(
    db,
    sql`select a.workspace_id as "workspaceId", w.name as workspace, a.kind, a.subject, a.raised_at as "raisedAt"
      from alerts a join workspaces w on w.id = a.workspace_id
      where a.cleared_at is null and a.kind in ${PROBLEMS}
      order by a.raised_at desc limit ${MOST}`,
  )
}
