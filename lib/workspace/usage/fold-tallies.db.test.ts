import { asc, eq, sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { counts, tallies } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { addFile, addOutput } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { readChecklist } from '../../dashboard/overview/read-overview.ts'
import { emitFileEvent } from '../../events/emit-file-event.ts'
import type { Db } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { showSender } from '../senders/read-senders.ts'
import { addUp, foldTallies, pruneCounts, STEPS, stepOf } from './fold-tallies.ts'

const AT = new Date('2026-03-04T11:59:59.999Z')

function tallyOf({ workspaceId, pipe }: TestWorkspace, fields: Partial<typeof tallies.$inferInsert> = {}) {
  return {
    workspaceId,
    pipeId: pipe.id,
    what: 'transferred' as const,
    at: AT,
    bytes: 10,
    tookMs: 400,
    ...fields,
  }
}

const countsOf = (db: Db, { workspaceId }: TestWorkspace) =>
  db
    .select()
    .from(counts)
    .where(eq(counts.workspaceId, workspaceId))
    .orderBy(asc(counts.span), asc(counts.at))

describeWithDatabase('the counts', (database) => {
  it('keep the first delivered webhook on the checklist after counts and deliveries are deleted', async () => {
    const runtime = testRuntime(database())
    const [mine, other] = [await createTestWorkspace(runtime), await createTestWorkspace(runtime)]
    await runtime.db
      .insert(tallies)
      .values([
        tallyOf(mine, { what: 'delivered', bytes: 0 }),
        tallyOf(mine, { what: 'delivered', bytes: 0 }),
        tallyOf(other, { what: 'undelivered', bytes: 0 }),
      ])
    await foldTallies(runtime)
    await runtime.db.delete(counts)
    expect((await readChecklist(runtime, mine.actor)).checklist).toMatchObject({ webhookDelivered: true })
    expect((await readChecklist(runtime, other.actor)).checklist).toMatchObject({ webhookDelivered: false })
  })

  it("add to what each Sender's files transferred", async () => {
    const runtime = testRuntime(database())
    const mine = await createTestWorkspace(runtime)
    const senderId = mine.sender.id
    const later = new Date('2026-03-05T12:00:00.000Z')
    const ofNobody = tallyOf(mine, { bytes: 1000 })
    const ofSender = [tallyOf(mine, { senderId, at: later }), tallyOf(mine, { senderId, bytes: 7 })]
    await runtime.db.insert(tallies).values([ofNobody, ...ofSender])
    await foldTallies(runtime)
    const shown = await showSender(runtime, mine.actor, senderId)
    expect(shown).toMatchObject({ transferredBytes: 17, lastFileAt: later.toISOString() })
  })

  it('are kept by hour and by day, for each Pipe and for all Pipes', async () => {
    const runtime = testRuntime(database())
    const mine = await createTestWorkspace(runtime)
    await runtime.db
      .insert(tallies)
      .values([
        tallyOf(mine),
        tallyOf(mine, { at: new Date('2026-03-04T12:00:00.000Z'), pipeId: 'another', tookMs: 90_000 }),
        tallyOf(mine, { what: 'failed', bytes: 0 }),
        tallyOf(mine, { what: 'undelivered', bytes: 0 }),
      ])
    expect(await foldTallies(runtime)).toBe(4)
    const found = await countsOf(runtime.db, mine)
    const shown = found.map(({ span, at, pipeId, transferred, failed, undelivered, bytes }) =>
      [
        span,
        at.toISOString().slice(8, 13),
        pipeId === mine.pipe.id ? 'own' : pipeId,
        transferred,
        failed,
        undelivered,
        bytes,
      ].join(' '),
    )
    expect(shown.sort().filter((line) => !line.startsWith('quarter'))).toEqual([
      'day 04T00  2 1 1 20',
      'day 04T00 another 1 0 0 10',
      'day 04T00 own 1 1 1 10',
      'hour 04T11  1 1 1 10',
      'hour 04T11 own 1 1 1 10',
      'hour 04T12  1 0 0 10',
      'hour 04T12 another 1 0 0 10',
    ])
    const day = found.find(({ span, pipeId }) => span === 'day' && pipeId === '')!
    expect(day.durations).toHaveLength(STEPS)
    expect([day.durations[stepOf(400)], day.durations[stepOf(90_000)]]).toEqual([1, 1])
    expect(await runtime.db.select().from(tallies)).toEqual([])
  })

  it('include each tally only once, even if several nodes count at the same time', async () => {
    const runtime = testRuntime(database())
    const mine = await createTestWorkspace(runtime)
    for (let round = 1; round <= 2; round++) {
      await runtime.db.insert(tallies).values(Array.from({ length: 200 }, () => tallyOf(mine)))
      await Promise.all([1, 2, 3, 4].map(() => foldTallies(runtime)))
      const [day] = await countsOf(runtime.db, mine)
      expect(day).toMatchObject({ transferred: 200 * round, bytes: 2000 * round })
      expect(day!.durations[stepOf(400)]).toBe(200 * round)
    }
  })

  it('lose no tallies if counting fails', async () => {
    const runtime = testRuntime(database())
    const mine = await createTestWorkspace(runtime)
    await runtime.db.insert(tallies).values(tallyOf(mine))
    await runtime.db.execute(sql`alter table counts add constraint no_more check (transferred < 0) not valid`)
    await expect(foldTallies(runtime)).rejects.toThrow()
    await runtime.db.execute(sql`alter table counts drop constraint no_more`)
    expect(await foldTallies(runtime)).toBe(1)
    expect(await countsOf(runtime.db, mine)).toHaveLength(6)
  })

  it('are deleted with their workspace', async () => {
    const runtime = testRuntime(database())
    const mine = await createTestWorkspace(runtime)
    await runtime.db.insert(tallies).values([tallyOf(mine), { ...tallyOf(mine), workspaceId: uuidv7(1) }])
    expect(await foldTallies(runtime)).toBe(2)
  })

  it('include files that have ended, but neither partial uploads nor files that a hook rejected', async () => {
    const runtime = testRuntime(database())
    const output = await addOutput(runtime.db, 'https://hooks.example.com/a')
    const whole = await addFile(runtime.db, output)
    const partial = await addFile(runtime.db, output)
    await runtime.db.execute(sql`update files set concat = 'partial' where id = ${partial}::uuid`)
    const rejected = await addFile(runtime.db, output, { status: 'failed', decision: 'rejected' })
    await runtime.db.transaction((tx) => emitFileEvent(tx, runtime, whole, partial, rejected))
    const noted = await runtime.db.select().from(tallies)
    expect(noted).toMatchObject([{ what: 'transferred', bytes: 11, pipeId: output.pipeId }])
    await foldTallies(runtime)
  })

  it('are kept for 9 days by hour, and for 400 days by day', async () => {
    const runtime = testRuntime(database())
    const mine = await createTestWorkspace(runtime)
    const ago = (days: number) => new Date(runtime.clock.now() - days * 86_400_000)
    const made = addUp([399, 10, 8].map((days) => ({ ...tallyOf(mine), atMs: ago(days).getTime() })))
    await runtime.db.insert(counts).values(made.map((count) => ({ ...count, at: new Date(count.at) })))
    await pruneCounts(runtime)
    const left = await countsOf(runtime.db, mine)
    expect(left.filter(({ span }) => span === 'hour')).toHaveLength(2)
    expect(left.filter(({ span }) => span === 'day')).toHaveLength(6)
    runtime.clock.advance(2 * 86_400_000)
    await pruneCounts(runtime)
    expect((await countsOf(runtime.db, mine)).filter(({ span }) => span === 'day')).toHaveLength(4)
  })
})
