import { expect, it } from 'vitest'
import { members } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { addFile, addPipe } from '../../test/support/webhook-rows.ts'
import { createTestWorkspace } from '../../test/support/workspace.ts'
import { newClaim } from '../uploads/ledger/lease-terms.ts'
import { claimUndecided } from './stored-decisions.ts'

describeWithDatabase('the files whose hooks are asked next', (database) => {
  it("are at most an owner's share, however many Pipes and workspaces the owner has", async () => {
    const { db } = database()
    const runtime = testRuntime(database())
    const [one, two, neighbour] = await Promise.all([1, 2, 3].map(() => createTestWorkspace(runtime)))
    const { userId } = one!
    const ownership = { workspaceId: two!.workspaceId, userId, role: 'owner' } as const
    await db.insert(members).values({ ...ownership, createdAt: new Date(0) })
    const pipesOf = ({ workspaceId }: { workspaceId: string }) =>
      Promise.all([1, 2, 3].map(async () => ({ workspaceId, pipeId: await addPipe(db, workspaceId) })))
    const hanging = [...(await pipesOf(one!)), ...(await pipesOf(two!))]
    for (const pipe of hanging) await addFile(db, pipe, { status: 'transferring', decision: 'asked' })
    const modest = { workspaceId: neighbour!.workspaceId, pipeId: neighbour!.pipe.id }
    const late = await addFile(db, modest, { status: 'transferring', decision: 'asked' })

    const claim = async (limit: number, busy: string[]) => {
      const limits = { limit, limitPerPipe: 2, limitPerOwner: 3, busy, nowMs: Date.now() }
      return (await claimUndecided(db, newClaim(60_000), limits)).map(({ fileId }) => fileId)
    }
    const asked = hanging.slice(0, 2).map(({ pipeId }) => pipeId)
    expect(await claim(1, asked)).toEqual([late])
    expect(await claim(10, asked)).toHaveLength(1)
    expect(await claim(10, [])).toHaveLength(3)
  })
})
