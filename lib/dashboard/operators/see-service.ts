import { sql } from 'drizzle-orm'
import { rows } from '../../platform/db/database.ts'
import { seconds } from '../../platform/kernel/clock.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'

/** The state of the whole service: its nodes, what waits, and what fails in whichever workspace. */
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

/** Three signs of life that did not come. */
const SILENT_MS = seconds(30)
const MOST = 200
const MOST_COUNTED = 10_000

export async function seeNodes({ db, clock }: CoreRuntime): Promise<SeenNode[]> {
  const found = await rows<Omit<SeenNode, 'silent'>>(
    db,
    sql`select id, version, roles, started_at as "startedAt", seen_at as "seenAt", uploads,
        memory_used_bytes as "memoryUsedBytes", memory_bytes as "memoryBytes"
      from nodes order by started_at limit ${MOST}`,
  )
  return found.map((node) => ({ ...node, silent: Date.parse(node.seenAt) < clock.now() - SILENT_MS }))
}

export async function seeBacklogs({ db }: CoreRuntime): Promise<Backlog[]> {
  return rows<Backlog>(
    db,
    sql`
    select 'Webhook deliveries' as what, count(*)::int as waiting, min(created_at) as "oldestAt"
      from (select created_at from deliveries where state = 'pending' limit ${MOST_COUNTED}) d
    union all select 'Objects to complete', count(*)::int, min(created_at)
      from (select created_at from files where status = 'transferring' and (decision is null or decision = 'allowed') limit ${MOST_COUNTED}) f
    union all select 'Files to decide about', count(*)::int, min(created_at)
      from (select created_at from files where status = 'transferring' and decision in ('asked', 'deferred') limit ${MOST_COUNTED}) a
    union all select 'Uploads under way', count(*)::int, min(created_at)
      from (select created_at from files where status = 'uploading' limit ${MOST_COUNTED}) u`,
  )
}

/** Data Stores that refuse and outputs that fail, by the names that their owners gave them. */
export async function seeFailures({ db }: CoreRuntime): Promise<Failure[]> {
  return rows<Failure>(
    db,
    sql`select a.workspace_id as "workspaceId", w.name as workspace, a.kind, a.subject, a.raised_at as "raisedAt"
      from alerts a join workspaces w on w.id = a.workspace_id
      where a.cleared_at is null and a.kind in ('bucket_rejects', 'output_off', 'output_failing', 'hook_failing')
      order by a.raised_at desc limit ${MOST}`,
  )
}
