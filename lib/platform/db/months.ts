import { setTimeout as pause } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import { firstUuidAt } from '../kernel/ids.ts'
import { type Db, rows } from './database.ts'
import { isLockFailure } from './faults.ts'

/**
 * Tables partitioned into months by the time in their ids. Old rows are deleted by dropping their month; the next month
 * is created before it starts. Rows outside the existing months go to the default partition, for example because a
 * clock is wrong, so that inserts succeed even if no worker is running.
 */
export type Kept = {
  /** Tables whose months are dropped together. */
  tables: readonly string[]
  keptMs: number
  /** As long as this query finds rows, the month is not dropped. */
  inUse?: (month: Month) => SQL
}

/**
 * Creates missing months and drops expired ones; returns the number of changes. Only one process at a time does this.
 */
export async function keepMonths(db: Db, kept: Kept, nowMs: number): Promise<number> {
  let done = 0
  for (const table of kept.tables)
    for (const month of missingMonths((await monthsOf(db, table)).at(-1), nowMs))
      done += await make(db, table, month)
  return done + (await dropMonths(db, kept, nowMs))
}

/** A table's months, oldest first. */
export async function monthsOf(db: Db, table: string): Promise<Month[]> {
  const found = await rows<{ month: string }>(
    db,
    sql`select substr(relname, length(${table}) + 2) as month from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = ${table}::regclass order by 1`,
  )
  return found.map(({ month }) => month).filter((month) => month !== 'default')
}

/** The key of the advisory lock: an arbitrary fixed number. */
const LOCK = 7_584_230_020

const TRIES = 40
/** The pause between attempts, in which waiting statements continue. */
const PAUSE_MS = 250

/**
 * While this waits for a lock on a table, all statements on that table wait, too. So it gives up early, before
 * PostgreSQL can detect a deadlock and perhaps end an upload's transaction instead. It then tries again: on a busy
 * server, getting the lock takes some luck.
 */
async function alone(db: Db, work: (tx: Db) => Promise<number>): Promise<number> {
  const once = () =>
    db.transaction(async (tx) => {
      await tx.execute(sql`set local lock_timeout = '250ms'`)
      const [lock] = await rows<{ taken: boolean }>(
        tx,
        sql`select pg_try_advisory_xact_lock(${LOCK}) as taken`,
      )
      return lock!.taken ? work(tx) : 0
    })
  for (let tries = 1; ; tries++) {
    try {
      return await once()
    } catch (error) {
      if (tries === TRIES || !isLockFailure(error)) throw error
      await pause(PAUSE_MS * (0.5 + Math.random()))
    }
  }
}

/**
 * The month is created as a separate table and then attached, which only blocks statements that read the default
 * partition. That partition may already have rows for this month, which are moved without running triggers.
 */
async function make(db: Db, table: string, month: Month): Promise<number> {
  const [whole, part, rest] = [table, `${table}_${month}`, `${table}_default`].map((name) =>
    sql.identifier(name),
  )
  const [from, before] = idsOf(month).map((id) => sql.raw(`'${id}'`))
  return alone(db, async (tx) => {
    if ((await monthsOf(tx, table)).includes(month)) return 0
    await tx.execute(sql`create table ${part} (like ${whole} including all)`)
    await tx.execute(sql`lock table only ${rest} in access exclusive mode`)
    await tx.execute(sql`alter table ${rest} disable trigger user`)
    await tx.execute(
      sql`with moved as (delete from ${rest} where id >= ${from} and id < ${before} returning *) insert into ${part} select * from moved`,
    )
    await tx.execute(sql`alter table ${rest} enable trigger user`)
    await tx.execute(
      sql`alter table ${whole} attach partition ${part} for values from (${from}) to (${before})`,
    )
    return 1
  })
}

/**
 * Drops a month from all tables, from the last table to the first, because only the first one is searched for expired
 * months: if this is interrupted, the next run finds the month again.
 */
async function dropMonths(db: Db, { tables, keptMs, inUse }: Kept, nowMs: number): Promise<number> {
  let dropped = 0
  const over = (await monthsOf(db, tables[0]!)).filter((month) => isOver(month, keptMs, nowMs))
  for (const month of over) {
    const isWhole = (await Promise.all(tables.map((table) => monthsOf(db, table)))).every((months) =>
      months.includes(month),
    )
    if (isWhole && inUse && (await rows(db, inUse(month))).length > 0) continue
    let isGone = false
    for (const table of tables.toReversed())
      isGone = await alone(db, async (tx) => {
        await tx.execute(sql`drop table if exists ${sql.identifier(`${table}_${month}`)}`)
        return 1
      }).then((count) => count > 0)
    if (isGone) dropped += 1
  }
  for (const table of tables) dropped += await deleteStrays(db, table, nowMs - keptMs)
  return dropped
}

const STRAYS_AT_ONCE = 1000

/** Deletes expired rows from the default partition. */
async function deleteStrays(db: Db, table: string, beforeMs: number): Promise<number> {
  const rest = sql.identifier(`${table}_default`)
  const old = sql`select id from ${rest} where id < ${firstUuidAt(beforeMs)}::uuid order by id limit ${STRAYS_AT_ONCE}`
  return (await rows(db, sql`delete from ${rest} where id in (${old}) returning 1`)).length
}

/** A calendar month in UTC, as the suffix of its tables: `2026_11`. */
export type Month = string

export const monthOf = (ms: number): Month => new Date(ms).toISOString().slice(0, 7).replace('-', '_')

export function nextMonth(month: Month): Month {
  const [year, number] = month.split('_').map(Number) as [number, number]
  return monthOf(Date.UTC(year, number))
}

export const startOf = (month: Month): number => Date.parse(`${month.replace('_', '-')}-01T00:00:00Z`)

/** The range of the month's ids: from the first value up to, but not including, the second. */
export const idsOf = (month: Month): [from: string, before: string] => [
  firstUuidAt(startOf(month)),
  firstUuidAt(startOf(nextMonth(month))),
]

/** The months up to the next one, starting after `last` or, if that is undefined, with the month of `nowMs`. */
export function missingMonths(last: Month | undefined, nowMs: number): Month[] {
  const months: Month[] = []
  const end = nextMonth(monthOf(nowMs))
  for (let month = last ? nextMonth(last) : monthOf(nowMs); month <= end; month = nextMonth(month))
    months.push(month)
  return months
}

/** True once the entire month is past the retention period. */
export const isOver = (month: Month, keptMs: number, nowMs: number): boolean =>
  startOf(nextMonth(month)) <= nowMs - keptMs
