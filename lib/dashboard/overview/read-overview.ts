import { and, count, eq, sql } from 'drizzle-orm'
import { files, IS_FILE } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { TRIAL_SENDER } from '../../workspace/tokens/issue-trial-token.ts'

/**
 * The setup steps that a workspace has completed, each found with one index lookup. A bucket that is ready, or has
 * accepted a file, is considered working even without a successful check.
 */
export type Checklist = {
  bucketTakesFiles: boolean
  pipeOn: boolean
  senderCreated: boolean
  fileArrived: boolean
  webhookDelivered: boolean
}

/** `hasFiles` includes files that have not arrived. */
export async function readChecklist(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
): Promise<{ checklist: Checklist; hasFiles: boolean }> {
  // Uses a limit in index order instead of `exists`, for which PostgreSQL may scan the table for the first matching
  // row.
  const mine = sql`workspace_id = ${workspaceId}::uuid`
  const [row] = await rows<Omit<Checklist, 'bucketTakesFiles'> & { bucketReady: boolean; hasFiles: boolean }>(
    db,
    sql`select
      exists (select 1 from data_stores where ${mine} and deleted_at is null and (ready_at is not null or "check"->>'ok' = 'true')) as "bucketReady",
      exists (select 1 from pipes where ${mine} and deleted_at is null and source_http) as "pipeOn",
      exists (select 1 from senders where ${mine} and revoked_at is null and name <> ${TRIAL_SENDER}) as "senderCreated",
      (select id from files where ${mine} order by id limit 1) is not null as "hasFiles",
      (select id from files where ${mine} and status in ('transferred', 'partially_transferred') and ${IS_FILE} order by id limit 1) is not null as "fileArrived",
      exists (select 1 from workspaces where id = ${workspaceId}::uuid and webhook_delivered_at is not null)
        or exists (select 1 from deliveries where ${mine} and state = 'delivered') as "webhookDelivered"`,
  )
  const { bucketReady, hasFiles, ...steps } = row!
  return { checklist: { ...steps, bucketTakesFiles: bucketReady || steps.fileArrived }, hasFiles }
}

/** Counts the workspace's uploads in progress. */
export async function countUnderWay({ db }: Pick<Runtime, 'db'>, { workspaceId }: Actor): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(files)
    .where(and(eq(files.workspaceId, workspaceId), eq(files.status, 'uploading'), IS_FILE))
  return row!.n
}
