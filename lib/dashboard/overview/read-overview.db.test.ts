import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { files } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { addFile } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import { readChecklist } from './read-overview.ts'

describeWithDatabase('the checklist', (database) => {
  it('has no uploaded file until all bytes of one are in the bucket', async () => {
    const runtime = testRuntime(database())
    const { actor, workspaceId, pipe } = await createTestWorkspace(runtime)
    const look = async () => {
      const { checklist, hasFiles } = await readChecklist(runtime, actor)
      return { hasFiles, fileArrived: checklist.fileArrived }
    }
    expect(await look()).toEqual({ hasFiles: false, fileArrived: false })
    const place = { workspaceId, pipeId: pipe.id }
    const open = { status: 'uploading', lengthBytes: 10, offsetBytes: 3, firstByteAt: new Date() } as const
    const id = await addFile(runtime.db, place, open)
    // One of its connections has sent all of its bytes.
    await addFile(runtime.db, place, { laneOf: id, firstByte: 0 })
    expect(await look()).toEqual({ hasFiles: true, fileArrived: false })
    await runtime.db.update(files).set({ status: 'transferred' }).where(eq(files.id, id))
    expect(await look()).toEqual({ hasFiles: true, fileArrived: true })
  })
})
