import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fileTimeline } from '#drizzle/schema/index.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { addFile, addOutput } from '../../test/support/webhook-rows.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { monthsOf, nextMonth, startOf } from '../platform/db/months.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { keepTimelines } from './upload-sweeps.ts'

const DAY = 86_400_000

let database: DatabaseHandle
beforeEach(async () => {
  database = await openTestDatabase()
})
afterEach(() => database.close())

it('timelines are kept for a year, in monthly partitions', async () => {
  const { db } = database
  const fileId = await addFile(db, await addOutput(db, 'https://hooks.example.com/a'))
  const [first] = await monthsOf(db, 'file_timeline')
  const end = startOf(nextMonth(first!))
  await keepTimelines({ db, clock: { now: () => end } })
  for (const at of [new Date(end - 1), new Date(end)])
    await db.insert(fileTimeline).values({ id: uuidv7(at.getTime()), fileId, kind: 'created', at })
  await keepTimelines({ db, clock: { now: () => end + 365 * DAY - 1 } })
  expect(await db.$count(fileTimeline)).toBe(2)
  await keepTimelines({ db, clock: { now: () => end + 365 * DAY } })
  expect(await db.select().from(fileTimeline)).toMatchObject([{ at: new Date(end) }])
})

it('monthly partitions are created during uploads, with retries while someone is reading rows that have no partition', {
  tags: 'long',
}, async () => {
  const { db } = database
  const fileId = await addFile(db, await addOutput(db, 'https://hooks.example.com/a'))
  const [first] = await monthsOf(db, 'file_timeline')
  const end = startOf(nextMonth(first!))
  const waiting = async () =>
    (
      await rows(
        db,
        sql`select from pg_locks where relation = 'file_timeline_default'::regclass and not granted`,
      )
    ).length
  const at = new Date(end - 1)
  await db.transaction(async (tx) => {
    await tx.insert(fileTimeline).values({ id: uuidv7(at.getTime()), fileId, kind: 'created', at })
    expect(await keepTimelines({ db, clock: { now: () => end } })).toBe(2)
  })
  let keeping!: Promise<number>
  await db.transaction(async (tx) => {
    await tx.execute(sql`select from file_timeline_default`)
    keeping = keepTimelines({ db, clock: { now: () => end + 31 * DAY } })
    keeping.catch(() => {})
    for (const expected of [1, 0, 1]) await expect.poll(waiting).toBe(expected)
  })
  expect(await keeping).toBe(1)
})
