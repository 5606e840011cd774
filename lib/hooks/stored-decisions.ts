import { type SQL, sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/index.ts'
import { ownerOf } from '../identity/owner.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { CLAIMED_COLUMNS, type Claimed, hasAllBytes } from '../recovery/claim-transferring.ts'
import { type Claim, type Fenced, heldBy, isFree, taken } from '../uploads/ledger/lease-terms.ts'
import { insertNote } from '../uploads/ledger/timeline.ts'
import { DECISION } from '../uploads/ledger/upload-rights.ts'
import type { FileDecision, Verdict } from '../uploads/rules/decision.ts'

/**
 * The `before_complete` hook's decisions. Each file has one row, and the first decision written to it wins; only a
 * deferral is replaced, once. `files.decision` repeats the state, so that files without a decision require no lookup.
 */

const at = (nowMs: number): SQL => sql`${new Date(nowMs).toISOString()}::timestamptz`

/** A claimed file, with the Pipe whose hook is asked. */
export type Undecided = Claimed & { pipeId: string }

type ClaimLimits = {
  limit: number
  limitPerPipe: number
  limitPerOwner: number
  /** The Pipes of the files that this node is asking about, one entry per file. */
  busy: readonly string[]
}

/**
 * Takes the lease on one file whose hook has to be asked, unless someone is already asking. Its client is waiting, so
 * the file is considered complete, even if its protocol lets clients declare this after the last byte.
 */
export async function claimOneUndecided(
  db: Db,
  lease: Claim,
  { fileId, nowMs }: { fileId: string; nowMs: number },
): Promise<Undecided | undefined> {
  const due = sql`due as (
      select f.id from files f where f.id = ${fileId}::uuid and ${isDue(HAS_ALL_BYTES)} for update of f skip locked
    )`
  return (await claim(db, lease, due, nowMs))[0]
}

/**
 * Like `claimOneUndecided`, for the oldest files. No Pipe and no owner gets more than their share, so hanging receivers
 * do not delay others' files.
 */
export function claimUndecided(
  db: Db,
  lease: Claim,
  { limit, limitPerPipe, limitPerOwner, busy, nowMs }: ClaimLimits & { nowMs: number },
): Promise<Undecided[]> {
  const due = sql`busy as (
      select p.id as pipe_id, ${ownerOf(sql`p.workspace_id`)} as owner, count(*) as files
      from jsonb_array_elements_text(${JSON.stringify(busy)}::jsonb) b join pipes p on p.id = b.value group by p.id
    ), of_pipe as (
      select f.id, f.workspace_id, f.created_at,
        coalesce(busy.files, 0) + row_number() over (partition by f.pipe_id order by f.created_at) as place
      from files f left join busy on busy.pipe_id = f.pipe_id where ${IS_DUE}
    ), of_owner as (
      select id, created_at, place, ${ownerOf(sql`of_pipe.workspace_id`)} as owner
      from of_pipe where place <= ${limitPerPipe}::int
    ), waiting as (
      select id, coalesce((select sum(files) from busy where busy.owner = of_owner.owner), 0)
        + row_number() over (partition by owner order by place, created_at) as place
      from of_owner
    ), due as (
      select f.id from files f join waiting on waiting.id = f.id where waiting.place <= ${limitPerOwner}::int and ${IS_DUE}
      order by waiting.place, f.created_at limit ${limit}::int for update of f skip locked
    )`
  return claim(db, lease, due, nowMs)
}

const isDue = (isComplete: SQL): SQL =>
  sql`(f.status = 'transferring' and f.decision = 'asked' or ${isComplete} and f.decision = 'due') and ${isFree}`
const IS_DUE = isDue(hasAllBytes)
const HAS_ALL_BYTES = sql`(f.status = 'uploading' and f.offset_bytes = f.length_bytes)`

function claim(db: Db, lease: Claim, due: SQL, nowMs: number): Promise<Undecided[]> {
  return rows<Undecided>(
    db,
    sql`with ${due}, claimed as (
      update files f set ${taken(lease)}, status = 'transferring', decision = 'asked',
        last_byte_at = case when f.status = 'uploading' then ${at(nowMs)} else f.last_byte_at end
      from due where f.id = due.id returning f.*, false as sent_before, null::timestamptz as last_attempt_at
    ), going as (
      update file_destinations d set status = 'transferring' from claimed
      where d.file_id = claimed.id and d.status = 'pending'
    )
    select ${CLAIMED_COLUMNS}, c.pipe_id as "pipeId" from claimed c`,
  )
}

/** True for the process that asked, while it holds the lease and no other decision has been made. */
export const isAskedBy = (lease: Fenced): SQL => sql`decision = 'asked' and ${heldBy(lease)}`
/** `asked` is included because an API call may arrive before the receiver's response. */
export const IS_OPEN: SQL = sql`decision in ('asked', 'deferred')`
/** True for a file that was not decided on in time. */
export const isLapsed = (
  nowMs: number,
): SQL => sql`decision = 'deferred' and exists (select from file_decisions d
  where d.file_id = files.id and hook = 'before_complete' and state = 'deferred' and deferred_until <= ${at(nowMs)})`

type Options = { provided: SQL; nowMs: number; deferMs?: number; isCompleting?: boolean }

/**
 * Stores a decision if `provided`, a condition on the file's row, still holds. With `isCompleting`, the caller then
 * creates the object under the same lease, so the attempt is also recorded. False if the condition no longer holds:
 * someone else has decided.
 */
export async function recordDecision(
  db: Db,
  fileId: string,
  verdict: Verdict,
  options: Options,
): Promise<boolean> {
  const { provided, nowMs, deferMs = 0, isCompleting = false } = options
  const now = at(nowMs)
  const { state, by } = verdict
  const reason = state === 'rejected' ? verdict.reason : null
  const result = state === 'allowed' && verdict.result !== undefined ? JSON.stringify(verdict.result) : null
  const until = state === 'deferred' ? new Date(nowMs + deferMs).toISOString() : null
  const sent = isCompleting
    ? sql`, complete_sent_at = ${now}, complete_attempts = f.complete_attempts + 1`
    : sql``
  const decided = await rows(
    db,
    sql`
    with open as (
      select id from files where id = ${fileId}::uuid and status = 'transferring' and ${provided} for update
    ), stored as (
      insert into file_decisions as d (file_id, hook, state, decided_by, reason, result, decided_at, deferred_until)
      select id, 'before_complete', ${state}, ${by}, ${reason}, ${result}::jsonb, ${now}, ${until}::timestamptz from open
      on conflict (file_id, hook) do update set state = excluded.state, decided_by = excluded.decided_by,
        reason = excluded.reason, result = excluded.result, decided_at = excluded.decided_at, deferred_until = null
        where d.state = 'deferred' returning d.file_id as id
    ), noted as (${insertNote({ kind: 'decided', detail: { decision: state, by, reason } }, sql`stored`, nowMs)})
    update files f set decision = ${state}${sent} from stored where f.id = stored.id returning f.id`,
  )
  return decided.length > 0
}

export type Standing = FileDecision & { status: FileStatus }

/** The state of a file's decision; undefined if there is no such file. */
export async function readDecision(db: Db, fileId: string): Promise<Standing | undefined> {
  const [file] = await rows<{ status: FileStatus; decision: FileDecision | null }>(
    db,
    sql`select f.status, ${DECISION} as decision from files f where f.id = ${fileId}::uuid`,
  )
  return file?.decision ? { status: file.status, ...file.decision } : undefined
}

export async function findLapsed(db: Db, nowMs: number, limit: number): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    sql`select file_id as id from file_decisions where state = 'deferred'
      and deferred_until <= ${at(nowMs)} order by deferred_until limit ${limit}::int`,
  )
  return found.map(({ id }) => id)
}
