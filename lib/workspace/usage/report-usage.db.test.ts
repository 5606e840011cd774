import { expect, it } from 'vitest'
import { usageDays, usageMonths } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import { reportPipeUsage, reportUsage } from './report-usage.ts'

describeWithDatabase('the usage', (database) => {
  it('covers a calendar month in UTC, with a figure for each day so far', async () => {
    const runtime = testRuntime(database())
    const mine = await createTestWorkspace(runtime)
    const { workspaceId, pipe } = mine
    const month = { workspaceId, month: '2026-03', usedBytes: 30, reservedBytes: 5 }
    await runtime.db.insert(usageMonths).values(month)
    await runtime.db.insert(usageDays).values([
      { workspaceId, pipeId: pipe.id, day: '2026-02-28', bytes: 7 },
      { workspaceId, pipeId: pipe.id, day: '2026-03-01', bytes: 10 },
      { workspaceId, pipeId: 'pipe_that_is_gone', day: '2026-03-01', bytes: 5 },
      { workspaceId, pipeId: pipe.id, day: '2026-03-04', bytes: 15 },
    ])
    expect(await reportUsage(runtime, mine.actor, {})).toEqual({
      month: '2026-03',
      usedBytes: 30,
      reservedBytes: 5,
      limitBytes: 10_000_000_000,
      resetsAt: '2026-04-01T00:00:00.000Z',
      days: [
        { date: '2026-03-01', bytes: 15 },
        { date: '2026-03-02', bytes: 0 },
        { date: '2026-03-03', bytes: 0 },
        { date: '2026-03-04', bytes: 15 },
      ],
    })
    expect(await reportPipeUsage(runtime, mine.actor, {})).toEqual([
      { pipeId: pipe.id, name: 'Photos', bytes: 25 },
      { pipeId: 'pipe_that_is_gone', name: null, bytes: 5 },
    ])
    const december = await reportUsage(runtime, mine.actor, { month: '2025-12' })
    expect(december).toMatchObject({ usedBytes: 0, resetsAt: '2026-01-01T00:00:00.000Z' })
    expect(december.days).toHaveLength(31)
  })

  it('has no limit if FREE_TIER_BYTES is 0', async () => {
    const runtime = testRuntime(database(), { FREE_TIER_BYTES: '0' })
    const mine = await createTestWorkspace(runtime)
    expect((await reportUsage(runtime, mine.actor, {})).limitBytes).toBeNull()
  })
})
