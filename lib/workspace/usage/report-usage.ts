import { and, eq, gte, lt, sql, sum } from 'drizzle-orm'
import { z } from 'zod'
import { pipes, usageDays, usageMonths } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import type { ConfiguredRuntime, CoreRuntime } from '../../platform/runtime.ts'
import { monthOf } from './count-bytes.ts'
import { limitOf } from './reserve.ts'

export const usageQuery = z.strictObject({
  /** Such as `2026-11`; defaults to the current month. */
  month: z
    .string()
    .regex(/^20\d\d-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-11')
    .optional(),
})

export const usageAnswer = z.strictObject({
  month: z.string(),
  usedBytes: z.int(),
  /** Reserved for uploads in progress. */
  reservedBytes: z.int(),
  /** Null if unlimited. */
  limitBytes: z.int().nullable(),
  resetsAt: z.iso.datetime(),
  days: z.array(z.strictObject({ date: z.iso.date(), bytes: z.int() })),
})
export type Usage = z.output<typeof usageAnswer>

/** The workspace's usage in a calendar month (UTC), with a figure for each day so far. */
export async function reportUsage(
  { db, clock, config }: ConfiguredRuntime,
  actor: Actor,
  query: z.output<typeof usageQuery>,
): Promise<Usage> {
  const month = query.month ?? monthOf(clock.now())
  const [from, until] = boundsOf(month)
  const [[total], days, [limit]] = await Promise.all([
    db
      .select()
      .from(usageMonths)
      .where(and(eq(usageMonths.workspaceId, actor.workspaceId), eq(usageMonths.month, month))),
    db
      .select({ date: usageDays.day, bytes: sum(usageDays.bytes).mapWith(Number) })
      .from(usageDays)
      .where(inMonth(actor, from, until))
      .groupBy(usageDays.day),
    rows<{ bytes: number }>(
      db,
      sql`select ${limitOf(sql`${actor.workspaceId}::uuid`, { limitBytes: config.freeTierBytes })} as bytes`,
    ),
  ])
  const byDate = new Map(days.map(({ date, bytes }) => [date, bytes]))
  return {
    month,
    usedBytes: total?.usedBytes ?? 0,
    reservedBytes: total?.reservedBytes ?? 0,
    limitBytes: config.freeTierBytes === 0 || limit!.bytes === 0 ? null : limit!.bytes,
    resetsAt: until.toISOString(),
    days: datesBetween(from, Math.min(until.getTime(), clock.now() + 1)).map((date) => ({
      date,
      bytes: byDate.get(date) ?? 0,
    })),
  }
}

type PipeUsage = { pipeId: string; name: string | null; bytes: number }

/** The month's usage for each Pipe that received bytes. The name is null if the Pipe no longer exists. */
export async function reportPipeUsage(
  { db, clock }: CoreRuntime,
  actor: Actor,
  query: z.output<typeof usageQuery>,
): Promise<PipeUsage[]> {
  const [from, until] = boundsOf(query.month ?? monthOf(clock.now()))
  const found = await db
    .select({ pipeId: usageDays.pipeId, name: pipes.name, bytes: sum(usageDays.bytes).mapWith(Number) })
    .from(usageDays)
    .leftJoin(pipes, eq(pipes.id, usageDays.pipeId))
    .where(inMonth(actor, from, until))
    .groupBy(usageDays.pipeId, pipes.name)
  return found.sort((a, b) => b.bytes - a.bytes)
}

type PipeDay = { date: string; pipeId: string; name: string | null; bytes: number }

/** The month's usage by day and Pipe. */
export async function listPipeDays(
  { db, clock }: CoreRuntime,
  actor: Actor,
  query: z.output<typeof usageQuery>,
): Promise<PipeDay[]> {
  const [from, until] = boundsOf(query.month ?? monthOf(clock.now()))
  return db
    .select({ date: usageDays.day, pipeId: usageDays.pipeId, name: pipes.name, bytes: usageDays.bytes })
    .from(usageDays)
    .leftJoin(pipes, eq(pipes.id, usageDays.pipeId))
    .where(inMonth(actor, from, until))
    .orderBy(usageDays.day, usageDays.pipeId)
}

const dateOf = (instant: Date) => instant.toISOString().slice(0, 10)

function inMonth(actor: Actor, from: Date, until: Date) {
  return and(
    eq(usageDays.workspaceId, actor.workspaceId),
    gte(usageDays.day, dateOf(from)),
    lt(usageDays.day, dateOf(until)),
  )
}

function boundsOf(month: string): [from: Date, until: Date] {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return [new Date(Date.UTC(year, number - 1, 1)), new Date(Date.UTC(year, number, 1))]
}

function datesBetween(from: Date, untilMs: number): string[] {
  const dates: string[] = []
  for (let at = from.getTime(); at < untilMs; at += 86_400_000) dates.push(dateOf(new Date(at)))
  return dates
}
