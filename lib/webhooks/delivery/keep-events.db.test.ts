import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { dispatching } from '../../../test/support/dispatching.ts'
import { type Receiver, startReceiver } from '../../../test/support/receiver.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { addOutput } from '../../../test/support/webhook-rows.ts'
import { type DatabaseHandle, rows } from '../../platform/db/database.ts'
import { type Month, monthsOf, nextMonth, startOf } from '../../platform/db/months.ts'
import { keepEvents } from './sweeps.ts'

const DAY = 86_400_000
const TABLES = ['events', 'deliveries', 'attempts'] as const

describe('monthly event tables', () => {
  let database: DatabaseHandle
  let runtime: TestRuntime
  let receiver: Receiver
  let output: Awaited<ReturnType<typeof addOutput>>
  let worker: ReturnType<typeof dispatching>
  /** The month whose tables the migration creates. */
  let first: Month

  beforeEach(async () => {
    database = await openTestDatabase()
    runtime = testRuntime(database)
    receiver = await startReceiver()
    output = await addOutput(runtime.db, receiver.url)
    worker = dispatching(runtime)
    first = (await monthsOf(runtime.db, 'events'))[0]!
  })
  afterEach(async () => {
    await receiver.stop()
    await database.close()
  })

  const goTo = (ms: number) => runtime.clock.advance(ms - runtime.clock.now())
  async function deliveredEvent(): Promise<void> {
    await worker.event(output)
    await worker.work()
  }
  /** How many rows each partition of a table has. */
  async function partsOf(table: string): Promise<Record<string, number>> {
    const found = await rows<{ part: string; n: number }>(
      runtime.db,
      sql`select tableoid::regclass::text as part, count(*)::int as n from ${sql.identifier(table)} group by 1`,
    )
    return Object.fromEntries(found.map(({ part, n }) => [part.slice(table.length + 1), n]))
  }
  const parts = async () => {
    const [events, deliveries, attempts] = await Promise.all(TABLES.map(partsOf))
    expect([deliveries, attempts]).toEqual([events, events])
    return events
  }

  it('are created one month ahead, so that events around the end of a month have a table', {
    tags: 'long',
  }, async () => {
    const [month, next] = [nextMonth(first), nextMonth(nextMonth(first))]
    goTo(startOf(month))
    expect(await keepEvents(runtime)).toBe(2 * TABLES.length)
    expect(await keepEvents(runtime)).toBe(0)
    goTo(startOf(next) - 1)
    await deliveredEvent()
    runtime.clock.advance(1)
    await deliveredEvent()
    expect(await parts()).toEqual({ [month]: 1, [next]: 1 })
  })

  it('are created later, with the events in between, if no worker ran in time', {
    tags: 'long',
  }, async () => {
    const month = nextMonth(nextMonth(first))
    goTo(startOf(month) + DAY)
    await deliveredEvent()
    expect(await parts()).toEqual({ default: 1 })
    await keepEvents(runtime)
    expect(await parts()).toEqual({ [month]: 1 })
    expect(await monthsOf(runtime.db, 'deliveries')).toEqual([nextMonth(first), month, nextMonth(month)])
  })

  it('are created once by workers that start at the same time', { tags: 'long' }, async () => {
    goTo(startOf(nextMonth(first)))
    await Promise.all([keepEvents(runtime), keepEvents(runtime), keepEvents(runtime)])
    await keepEvents(runtime)
    expect(await monthsOf(runtime.db, 'events')).toHaveLength(3)
  })

  it('are dropped 30 days after their end, without searching for rows', async () => {
    goTo(startOf(first))
    await deliveredEvent()
    goTo(startOf(nextMonth(first)))
    await keepEvents(runtime)
    await deliveredEvent()
    for (const table of TABLES) await forbidDeleting(table)
    runtime.clock.advance(30 * DAY - 1)
    await keepEvents(runtime)
    expect(await parts()).toEqual({ [first]: 1, [nextMonth(first)]: 1 })
    runtime.clock.advance(1)
    await keepEvents(runtime)
    expect(await parts()).toEqual({ [nextMonth(first)]: 1 })
    expect(await monthsOf(runtime.db, 'attempts')).not.toContain(first)
  })

  it('are kept until their deliveries have ended', async () => {
    goTo(startOf(first))
    await worker.event(output)
    goTo(startOf(nextMonth(first)) + 30 * DAY)
    await keepEvents(runtime)
    expect(await partsOf('deliveries')).toEqual({ [first]: 1 })
    await worker.later(0)
    expect(receiver.received).toHaveLength(1)
    await keepEvents(runtime)
    expect(await monthsOf(runtime.db, 'deliveries')).not.toContain(first)
  })

  it('keep no events that were written while the clock was wrong', { tags: 'long' }, async () => {
    const now = startOf(nextMonth(first)) + 30 * DAY
    goTo(now)
    await keepEvents(runtime)
    goTo(startOf(first))
    await deliveredEvent()
    expect(await parts()).toEqual({ default: 1 })
    goTo(now)
    await keepEvents(runtime)
    expect(await parts()).toEqual({})
  })

  /** Makes row-by-row deletes fail. */
  async function forbidDeleting(table: string): Promise<void> {
    await runtime.db.execute(sql`create or replace function refuse() returns trigger language plpgsql
      as 'begin raise exception ''a row of % is deleted'', tg_table_name; end'`)
    await runtime.db.execute(
      sql`create trigger refuse before delete on ${sql.identifier(table)} for each row execute function refuse()`,
    )
  }
})
