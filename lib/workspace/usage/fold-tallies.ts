import { sql } from 'drizzle-orm'
import { TALLIED, type Tallied } from '#drizzle/schema/usage.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Clock, days, hours } from '../../platform/kernel/clock.ts'

const BATCH = 5000
const BATCHES = 20

/**
 * Charts show a day by the hour, a week in six-hour steps, and longer periods by the day, each compared with the previous
 * period.
 */
const SPANS = {
  hour: { lengthMs: hours(1), keepMs: days(9) },
  quarter: { lengthMs: hours(6), keepMs: days(16) },
  day: { lengthMs: days(1), keepMs: days(400) },
} as const
type Span = keyof typeof SPANS
const PRUNE_AT_ONCE = 1000

type Tally = {
  workspaceId: string
  pipeId: string
  what: Tallied
  atMs: number
  bytes: number
  tookMs: number
  senderId?: string | null
}
type Count = Record<Tallied, number> & {
  workspaceId: string
  span: Span
  at: string
  pipeId: string
  bytes: number
  durations: number[]
}

/** Adds tallies to the counts. Each is counted once, since the transaction that counts it also deletes it. */
export async function foldTallies({ db }: { db: Db }): Promise<number> {
  let all = 0
  for (let batch = 0; batch < BATCHES; batch++) {
    const folded = await db.transaction(foldBatch)
    all += folded
    if (folded < BATCH) break
  }
  return all
}

async function foldBatch(tx: Db): Promise<number> {
  const taken = await rows<Tally & { known: boolean }>(
    tx,
    sql`with taken as (
      delete from tallies where id = any(array(select id from tallies limit ${BATCH}::int for update skip locked)) returning *
    )
    select workspace_id as "workspaceId", pipe_id as "pipeId", sender_id as "senderId", what, bytes, took_ms as "tookMs",
      (extract(epoch from at) * 1000)::float8 as "atMs", exists (select from workspaces w where w.id = workspace_id) as known
    from taken`,
  )
  const tallied = taken.filter(({ known }) => known)
  const counts = addUp(tallied)
  if (counts.length > 0) await add(tx, counts)
  const sent = tallied.filter(({ senderId }) => senderId)
  if (sent.length > 0) await addToSenders(tx, sent)
  const delivered = tallied.filter(({ what }) => what === 'delivered')
  if (delivered.length > 0) await noteDelivered(tx, delivered)
  return taken.length
}

/**
 * Records the fact that a webhook of the workspace was delivered, since the counts and deliveries are eventually
 * deleted.
 */
async function noteDelivered(tx: Db, delivered: Tally[]): Promise<void> {
  const ids = JSON.stringify([...new Set(delivered.map(({ workspaceId }) => workspaceId))])
  await rows(
    tx,
    sql`update workspaces set webhook_delivered_at = now() where webhook_delivered_at is null and id in (
      select id from workspaces where webhook_delivered_at is null
        and id in (select value::uuid from json_array_elements_text(${ids}::json)) order by id for no key update)`,
  )
}

/** Locks the rows in a fixed order, as `add` does. */
async function addToSenders(tx: Db, sent: Tally[]): Promise<void> {
  await rows(
    tx,
    sql`with sent as (
      select "senderId" as id, sum(bytes) as bytes, max(to_timestamp("atMs" / 1000)) as at
      from json_to_recordset(${JSON.stringify(sent)}::json) as sent("senderId" uuid, bytes bigint, "atMs" float8) group by 1
    ), locked as (select id from senders where id in (select id from sent) order by id for no key update)
    update senders s set transferred_bytes = s.transferred_bytes + sent.bytes, last_file_at = greatest(s.last_file_at, sent.at)
      from sent join locked using (id) where s.id = sent.id`,
  )
}

/** Six rows for each tally: for its hour, quarter of a day and day, each for its Pipe and for all Pipes. */
export function addUp(tallies: Tally[]): Count[] {
  const counts = new Map<string, Count>()
  for (const tally of tallies) {
    for (const span of Object.keys(SPANS) as Span[]) {
      const at = beginOf(span, tally.atMs)
      for (const pipeId of [tally.pipeId, '']) {
        const key = [tally.workspaceId, span, at, pipeId].join()
        const count = counts.get(key) ?? emptyCount(tally.workspaceId, span, at, pipeId)
        counts.set(key, count)
        count[tally.what] += 1
        count.bytes += Number(tally.bytes)
        if (tally.what === 'transferred') count.durations[stepOf(Number(tally.tookMs))]! += 1
      }
    }
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count)
}

function beginOf(span: Span, atMs: number): string {
  const { lengthMs } = SPANS[span]
  return new Date(Math.floor(atMs / lengthMs) * lengthMs).toISOString()
}

function emptyCount(workspaceId: string, span: Span, at: string, pipeId: string): Count {
  const things = Object.fromEntries(TALLIED.map((what) => [what, 0])) as Record<Tallied, number>
  return {
    workspaceId,
    span,
    at,
    pipeId,
    ...things,
    bytes: 0,
    durations: Array.from({ length: STEPS }, () => 0),
  }
}

/** `counts` are in a fixed order, so that two nodes counting at once never deadlock. */
async function add(tx: Db, counts: Count[]): Promise<void> {
  await rows(
    tx,
    sql`insert into counts as c (workspace_id, span, at, pipe_id, transferred, failed, expired, canceled, delivered,
        undelivered, bytes, durations)
      select "workspaceId", span, at, "pipeId", transferred, failed, expired, canceled, delivered, undelivered, bytes,
        array(select value::int from json_array_elements_text(durations) with ordinality as steps(value, step) order by step)
      from json_to_recordset(${JSON.stringify(counts)}::json) as added("workspaceId" uuid, span text, at timestamptz,
        "pipeId" text, transferred int, failed int, expired int, canceled int, delivered int, undelivered int, bytes bigint,
        durations json)
      on conflict (workspace_id, span, at, pipe_id) do update set
        transferred = c.transferred + excluded.transferred, failed = c.failed + excluded.failed,
        expired = c.expired + excluded.expired, canceled = c.canceled + excluded.canceled,
        delivered = c.delivered + excluded.delivered, undelivered = c.undelivered + excluded.undelivered,
        bytes = c.bytes + excluded.bytes,
        durations = array(select a + b from unnest(c.durations, excluded.durations) with ordinality as pairs(a, b, step)
          order by step)`,
  )
}

/** Deletes counts that are no longer shown in any chart. */
export async function pruneCounts({ db, clock }: { db: Db; clock: Clock }): Promise<number> {
  let pruned = 0
  for (const [span, { keepMs }] of Object.entries(SPANS)) {
    const before = new Date(clock.now() - keepMs).toISOString()
    const gone = await rows(
      db,
      sql`delete from counts where ctid = any(array(
        select ctid from counts where span = ${span} and at < ${before}::timestamptz limit ${PRUNE_AT_ONCE}::int)) returning 1`,
    )
    pruned += gone.length
  }
  return pruned
}

const FIRST_MS = 10
const FACTOR = 1.5
export const STEPS = 50

/**
 * The step of a duration on a scale from 10 ms to a month, with each step half as long again as the previous one. A
 * count for each step represents all durations in a few numbers that can be added up; the median calculated from them
 * is accurate to within a fifth.
 */
export function stepOf(ms: number): number {
  if (ms < FIRST_MS) return 0
  return Math.min(1 + Math.floor(Math.log(ms / FIRST_MS) / Math.log(FACTOR)), STEPS - 1)
}

/** The shortest duration in a step, in milliseconds. */
function startOfStep(step: number): number {
  return step === 0 ? 0 : FIRST_MS * FACTOR ** (step - 1)
}

/** The median duration in milliseconds; undefined if there are no durations. */
export function medianOf(counts: number[]): number | undefined {
  const all = counts.reduce((sum, count) => sum + count, 0)
  let left = all / 2
  for (const [step, count] of counts.entries()) {
    if (count > 0 && left <= count)
      return Math.round(between(startOfStep(step), startOfStep(step + 1), left / count))
    left -= count
  }
  return undefined
}

const between = (from: number, to: number, share: number) => from + (to - from) * share
