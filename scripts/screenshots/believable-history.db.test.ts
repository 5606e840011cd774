import { eq, sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { usageDays } from '#drizzle/schema/index.ts'
import { problemsOf } from '#lib/dashboard/files/file-problems.ts'
import { showFile } from '#lib/dashboard/files/show-file.ts'
import { rows } from '#lib/platform/db/database.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { reportUsage } from '#lib/workspace/usage/report-usage.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { addFile, addOutput } from '../../test/support/webhook-rows.ts'
import { createTestWorkspace } from '../../test/support/workspace.ts'
import { writeRows } from './believable-history.ts'

describeWithDatabase('the history in screenshots', (database) => {
  it('has files as uploads leave them, also in a workspace that already has some', async () => {
    const runtime = testRuntime(database())
    const { db } = runtime
    const { actor, workspaceId, pipe, dataStore, sender } = await createTestWorkspace(runtime)
    await addOutput(db, 'https://a.example/hook', { workspaceId, pipeId: pipe.id })
    await addFile(db, { workspaceId, pipeId: pipe.id })
    const day = new Date().toISOString().slice(0, 10)
    await db.insert(usageDays).values({ workspaceId, pipeId: pipe.id, day, bytes: 11 })
    const fields = parseInput(pipeInput, { name: 'Past', dataStoreId: dataStore.id })
    const past = await createPipe(runtime, actor, fields)
    const place = { pipeId: past.id, senderId: sender.id, sender: sender.name }
    await writeRows(db, pipe.id, [place, place, place])

    const [failed] = await rows<{ id: string }>(
      db,
      sql`select id from files where pipe_id = ${past.id} and status = 'failed' limit 1`,
    )
    const file = await showFile(runtime, actor, failed!.id)
    expect(file.destinations).toMatchObject([{ destinationId: dataStore.id, status: 'failed' }])
    const cause = { href: `/dashboard/data-stores/${dataStore.id}` }
    expect(problemsOf({ file, from: null, progress: new Map(), undelivered: [] })).toMatchObject([{ cause }])
    const [without] = await rows(
      db,
      sql`select from files f where pipe_id = ${past.id}
        and not exists (select from file_destinations d where d.file_id = f.id)`,
    )
    expect(without).toBeUndefined()

    const [kept] = await db.select().from(usageDays).where(eq(usageDays.pipeId, pipe.id))
    expect(kept).toMatchObject({ bytes: 11 })
    const { usedBytes, days } = await reportUsage({ ...runtime, clock: { now: Date.now } }, actor, {})
    expect(usedBytes).toBe(days.reduce((sum, { bytes }) => sum + bytes, 0))
  })
})
