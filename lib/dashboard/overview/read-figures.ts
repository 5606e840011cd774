import { and, eq, gte, lt, or, type SQL, sql } from 'drizzle-orm'
import { counts, IS_FILE } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import { days, hours } from '../../platform/kernel/clock.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { medianOf, STEPS } from '../../workspace/usage/fold-tallies.ts'

/**
 * The Overview's figures. They come from a few hundred rows in `counts`, regardless of the number of files. Open
 * uploads are counted directly through an index, up to a limit.
 */
export const RANGES = {
  '24h': { span: 'hour', slotMs: hours(1), slots: 24, backMs: days(7) },
  '7d': { span: 'quarter', slotMs: hours(6), slots: 28, backMs: days(7) },
  '30d': { span: 'day', slotMs: days(1), slots: 30, backMs: days(30) },
  '90d': { span: 'day', slotMs: days(1), slots: 90, backMs: days(90) },
} as const
export type Range = keyof typeof RANGES

export type Totals = {
  transferred: number
  /**
   * Failed or expired files. Not included are canceled files, because their client no longer wanted them, and files that
   * a decision hook rejected, because that was the customer's decision.
   */
  lost: number
  bytes: number
  delivered: number
  undelivered: number
}
type Slot = Totals & { at: string }
export type Figures = {
  slots: Slot[]
  total: Totals
  /**
   * The totals for an earlier period of equal length: the same 24 hours a week ago or, for longer ranges, the period
   * just before.
   */
  before: Totals
  medianMs: number | undefined
  /** Counted up to `most`. `retrying` are webhooks of which an attempt has failed, and which will be sent again. */
  open: { uploading: number; waiting: number; retrying: number; most: number }
}

const MAX_OPEN = 1000

type Query = { range: Range; pipeId: string | undefined }
type Row = typeof counts.$inferSelect

export async function readFigures(
  { db, clock }: CoreRuntime,
  { workspaceId }: Actor,
  { range, pipeId }: Query,
): Promise<Figures> {
  const { fromMs, untilMs, backMs } = boundsOf(range, clock.now())
  const { span } = RANGES[range]
  const mine = sql`workspace_id = ${workspaceId}::uuid`
  const ofPipe = pipeId ? sql`and pipe_id = ${pipeId}` : sql``
  const within = (shiftMs: number) =>
    and(gte(counts.at, new Date(fromMs - shiftMs)), lt(counts.at, new Date(untilMs - shiftMs)))
  const [found, open] = await Promise.all([
    db
      .select()
      .from(counts)
      .where(
        and(
          eq(counts.workspaceId, workspaceId),
          eq(counts.span, span),
          eq(counts.pipeId, pipeId ?? ''),
          or(within(0), within(backMs)),
        ),
      ),
    rows<Figures['open']>(
      db,
      sql`select count(*)::int as uploading, ${MAX_OPEN}::int as most,
          (select count(*)::int from (select attempt_count from deliveries where ${mine}
            and state = 'pending' ${ofPipe} limit ${MAX_OPEN}::int) sent where attempt_count > 0) as retrying,
          (count(*) filter (where coalesce(last_byte_at, created_at) < now() - interval '5 minutes'))::int as waiting
        from (${newestOpen(pipeId ? sql`pipe_id = ${pipeId}` : mine)}) one where ${mine}`,
    ),
  ])
  return { ...addUp(range, fromMs, found), open: open[0]! }
}

/**
 * Only the index of the files of a workspace or a Pipe by status has this order. With an equal status or both
 * conditions, PostgreSQL may read newer files of any status, or all that are open.
 */
const newestOpen = (of: SQL): SQL =>
  sql`select workspace_id, last_byte_at, created_at from files where ${of} and status between 'uploading' and 'uploading'
    and erased_at is null and ${IS_FILE} order by status desc, id desc limit ${MAX_OPEN}::int`

/** The bounds of a range, which consists of complete slots. The last slot contains the current time. */
export function boundsOf(range: Range, nowMs: number): { fromMs: number; untilMs: number; backMs: number } {
  const { slotMs, slots, backMs } = RANGES[range]
  const untilMs = (Math.floor(nowMs / slotMs) + 1) * slotMs
  return { fromMs: untilMs - slots * slotMs, untilMs, backMs }
}

function addUp(range: Range, fromMs: number, found: Row[]) {
  const { slotMs, slots: count } = RANGES[range]
  const slots = Array.from(
    { length: count },
    (_, n): Slot => ({ at: new Date(fromMs + n * slotMs).toISOString(), ...nothing() }),
  )
  const [total, before] = [nothing(), nothing()]
  const durations = Array.from({ length: STEPS }, () => 0)
  for (const row of found) {
    const slot = slots[Math.floor((row.at.getTime() - fromMs) / slotMs)]
    for (const sum of slot ? [slot, total] : [before]) add(sum, row)
    if (slot) for (const [step, n] of row.durations.entries()) durations[step]! += n
  }
  return { slots, total, before, medianMs: medianOf(durations) }
}

const nothing = (): Totals => ({ transferred: 0, lost: 0, bytes: 0, delivered: 0, undelivered: 0 })

function add(sum: Totals, { transferred, failed, expired, bytes, delivered, undelivered }: Row): void {
  sum.transferred += transferred
  sum.lost += failed + expired
  sum.bytes += bytes
  sum.delivered += delivered
  sum.undelivered += undelivered
}
