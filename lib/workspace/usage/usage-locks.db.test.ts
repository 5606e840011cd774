import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { files, usageMonths } from '#drizzle/schema/index.ts'
import { blocked, openTestDatabase } from '../../../test/support/databases.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { countUncountedBytes, monthOf } from './count-bytes.ts'
import { lapseReservations } from './reserve.ts'

describe("several workspaces' months", () => {
  let database: DatabaseHandle
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database?.close())

  it.each([
    ['the sweep of idle reservations', lapseReservations],
    ['the count of uncounted bytes', countUncountedBytes],
  ])('are locked in order by %s, which prevents deadlocks', async (_, sweep) => {
    const runtime = testRuntime(database)
    const { db, clock } = runtime
    const made = [await createTestWorkspace(runtime), await createTestWorkspace(runtime)]
    const [low, high] = made.map(({ workspaceId }) => workspaceId).sort() as [string, string]
    const nowMs = clock.now()
    const month = monthOf(nowMs)
    // In the table, the rows are in the reverse of the locking order.
    for (const workspaceId of [high, low]) {
      await db.insert(usageMonths).values({ workspaceId, month, usedBytes: 0, reservedBytes: 100 })
      await db.insert(files).values({
        id: uuidv7(nowMs),
        workspaceId,
        pipeId: 'pipe',
        senderName: 'Backend',
        filename: 'file',
        lengthBytes: 200,
        offsetBytes: 100,
        countedBytes: 0,
        reservedBytes: 100,
        reservedMonth: month,
        expirySeconds: 1,
        expiresAt: new Date(nowMs),
        createdAt: new Date(nowMs),
      })
    }
    clock.advance(7_200_000)
    const lock = (workspaceId: string) =>
      sql`select 1 from usage_months where workspace_id = ${workspaceId}::uuid for update`
    const { promise: locked, resolve: hasLocked } = Promise.withResolvers<void>()
    const { promise: unlocked, resolve: unlock } = Promise.withResolvers<void>()
    const holding = db.transaction(async (tx) => {
      await tx.execute(lock(low))
      hasLocked()
      await unlocked
      await tx.execute(lock(high))
    })
    await locked
    const sweeping = sweep(runtime)
    await blocked(database)
    unlock()
    await holding
    expect(await sweeping).toBeGreaterThanOrEqual(2)
  })
})
