import { type SQL, sql } from 'drizzle-orm'
import { ownerOf } from '../identity/owner.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import type { ImportShare } from './fair-share.ts'

/**
 * The statements on `imports`. A worker claims the import that it fetches, and every write checks the claim, so a
 * worker that was presumed dead cannot change anything. The file also has a lease, which protects its bytes.
 */

export type ClaimedImport = {
  fileId: string
  pipeId: string
  workspaceId: string
  owner: string
  claim: string
  sealed: string
  sha256: string | null
  hashedBytes: number
  hashState: string | null
  validator: string | null
  failures: number
  failingSinceMs: number | null
  /** How many of the workspace's imports are being fetched, on all nodes. */
  running: number
}

const until = (claimMs: number) => sql`now() + ${claimMs}::int * interval '1 millisecond'`
const isFree = sql`(claimed_until is null or claimed_until < now())`

type ClaimLimits = {
  limit: number
  perOwner: number
  perWorkspace: number
  /** The owners whose imports are not claimed now. */
  except: readonly string[]
  claimMs: number
  nowMs: number
}

const isNone = (owner: SQL, owners: readonly string[]) =>
  sql`${owner}::text not in (select jsonb_array_elements_text(${JSON.stringify(owners)}::jsonb))`

/** Only one node claims imports at a time, so that several nodes together cannot exceed a workspace's limit. */
const CLAIMING = sql`hashtext('sluice imports')`

/**
 * Claims up to `limit` due imports, `perOwner` of each owner, but leaves each workspace with at most `perWorkspace` active
 * imports. Owners with
 * the fewest active imports come first, and among their workspaces those with the fewest.
 */
export async function claimImports(
  db: Db,
  { limit, perOwner, perWorkspace, except, claimMs, nowMs }: ClaimLimits,
): Promise<ClaimedImport[]> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  return db.transaction(async (tx) => {
    const [lock] = await rows<{ mine: boolean }>(
      tx,
      sql`select pg_try_advisory_xact_lock(${CLAIMING}) as mine`,
    )
    if (!lock!.mine) return []
    return rows<ClaimedImport>(
      tx,
      sql`
      with running as (
        select workspace_id, ${ownerOf(sql`r.workspace_id`)} as owner, count(*)::int as files
        from imports r where claimed_until >= now() group by 1
      ), waiting as (
        select workspace_id, ${ownerOf(sql`w.workspace_id`)} as owner
        from (select distinct workspace_id from imports where due_at <= ${now} and ${isFree}) w
      ), due as (
        select i.file_id, i.due_at, coalesce(o.files, 0) as running,
          row_number() over (partition by w.owner order by i.place, i.due_at, i.file_id) as place
        from waiting w left join running r on r.workspace_id = w.workspace_id
        left join (select owner, sum(files) as files from running group by 1) o on o.owner = w.owner
        cross join lateral (
          select file_id, due_at, coalesce(r.files, 0) + row_number() over (order by due_at, file_id) as place
          from imports where workspace_id = w.workspace_id and due_at <= ${now} and ${isFree}
          order by due_at, file_id limit greatest(0, ${perWorkspace}::int - coalesce(r.files, 0))
        ) i
        where ${isNone(sql`w.owner`, except)}
      ), claimed as (
        update imports set claim = gen_random_uuid(), claimed_until = ${until(claimMs)}
        where file_id = any (array(
          select file_id from due where place <= ${perOwner}::int
          order by running + place, due_at, file_id limit ${limit}::int
        )) returning *
      )
      select c.file_id as "fileId", f.pipe_id as "pipeId", c.workspace_id as "workspaceId",
        ${ownerOf(sql`c.workspace_id`)} as owner, c.claim, c.sealed, c.sha256,
        c.hashed_bytes as "hashedBytes", c.hash_state as "hashState", c.validator, c.failures,
        floor(extract(epoch from c.failing_since) * 1000)::bigint as "failingSinceMs",
        coalesce(r.files, 0) + (count(*) over (partition by c.workspace_id))::int as running
      from claimed c join files f on f.id = c.file_id left join running r on r.workspace_id = c.workspace_id`,
    )
  })
}

/**
 * The shares of all owners whose imports are waiting or active. Imports of a workspace that has reached its own limit,
 * and those of an excepted owner, are not waiting.
 */
export function importShares(
  db: Db,
  { perWorkspace, except, nowMs }: Pick<ClaimLimits, 'perWorkspace' | 'except' | 'nowMs'>,
): Promise<ImportShare[]> {
  return rows<ImportShare>(
    db,
    sql`select owner, sum(running)::int as running,
        sum(case when ${isNone(sql`owner`, except)} then least(waiting, greatest(0, ${perWorkspace}::int - running)) else 0 end)::int
        as waiting from (
        select ${ownerOf(sql`c.workspace_id`)} as owner, sum(running)::int as running, sum(waiting)::int as waiting from (
          select workspace_id, count(*) as running, 0 as waiting from imports where claimed_until >= now() group by 1
          union all
          select workspace_id, 0, count(*) from imports
          where due_at <= ${new Date(nowMs).toISOString()}::timestamptz and ${isFree} group by 1
        ) c group by c.workspace_id
      ) w group by 1`,
  )
}

/**
 * Renews these claims. For each claim that is still valid, returns how many of its workspace's imports are being
 * fetched.
 */
export async function renewClaims(
  db: Db,
  held: readonly Claimed[],
  claimMs: number,
): Promise<Map<string, number>> {
  const renewed = await rows<{ claim: string; running: number }>(
    db,
    sql`with renewed as (
      update imports set claimed_until = ${until(claimMs)}
      from jsonb_to_recordset(${JSON.stringify(held)}::jsonb) as h("fileId" uuid, claim uuid)
      where file_id = h."fileId" and imports.claim = h.claim returning imports.claim, workspace_id
    )
    select r.claim, (select count(*)::int from imports i where i.workspace_id = r.workspace_id and i.claimed_until >= now()) as running
    from renewed r`,
  )
  return new Map(renewed.map(({ claim, running }) => [claim, running]))
}

type Claimed = Pick<ClaimedImport, 'fileId' | 'claim'>
const isHeld = ({ fileId, claim }: Claimed) => sql`file_id = ${fileId}::uuid and claim = ${claim}::uuid`

/** Records the validator of the version being fetched, and the state of its digest so far. */
export async function recordSource(
  db: Db,
  held: Claimed,
  { validator, hash }: { validator: string | null; hash: { bytes: number; sealed: string } | undefined },
): Promise<void> {
  await db.execute(sql`update imports set validator = ${validator}, hashed_bytes = ${hash?.bytes ?? 0}::bigint,
    hash_state = ${hash?.sealed ?? null} where ${isHeld(held)}`)
}

/** Ends an import whose file needs nothing more from its source, and deletes its secrets. */
export async function endImport(db: Db, held: Claimed, lastError: string | null): Promise<void> {
  await db.execute(sql`update imports set due_at = null, claim = null, claimed_until = null, sealed = '', hash_state = null,
    last_error = ${lastError} where ${isHeld(held)}`)
}

export type Postponed = {
  dueAtMs: number
  failures: number
  failingSinceMs: number | null
  error: string | null
  /** Whether to add a line to the file's timeline: not every short interruption of a long import needs one. */
  isNoted: boolean
}

/**
 * Releases the claim. At the given time, the import becomes due again, and any worker may continue fetching the file.
 */
export async function postponeImport(
  db: Db,
  held: Claimed,
  { dueAtMs, failures, failingSinceMs, error, isNoted }: Postponed,
  nowMs: number,
): Promise<void> {
  const instant = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
  const detail = { error, nextAttemptAt: instant(dueAtMs) }
  await db.execute(sql`with postponed as (
      update imports set claim = null, claimed_until = null, due_at = ${instant(dueAtMs)}::timestamptz,
        failures = ${failures}::int, failing_since = ${instant(failingSinceMs)}::timestamptz, last_error = ${error}
      where ${isHeld(held)} returning file_id
    )
    insert into file_timeline (id, file_id, kind, detail, at)
    select ${uuidv7(nowMs)}::uuid, file_id, 'import_interrupted', ${JSON.stringify(detail)}::jsonb, ${instant(nowMs)}::timestamptz
    from postponed where ${isNoted}::boolean`)
}

/** Records the type of the file, which its source reports just before the first bytes arrive. */
export async function recordType(db: Db, fileId: string, filetype: string | null): Promise<void> {
  await db.execute(
    sql`update files set filetype = ${filetype} where id = ${fileId}::uuid and status = 'uploading' and offset_bytes = 0`,
  )
}
