import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { uploadTails } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { addFile, addPipe, addWorkspace } from '../../../test/support/webhook-rows.ts'
import { createLogger } from '../../platform/log/log.ts'
import { SEAL_BYTES } from '../rules/tail-cipher.ts'
import { createTailCap } from './tail-cap.ts'

const MiB = 1024 ** 2

describeWithDatabase('tails of all workspaces together', (database) => {
  it('have a cap, and under pressure each workspace gets its share of it', async () => {
    const { db } = database()
    const { clock } = testRuntime(database())
    const log = createLogger('silent')
    const cap = createTailCap({ db, clock, log }, { workspaceBytes: 100 * MiB, allBytes: 8 * MiB })
    const add = async (tailBytes: number) => {
      const { id: workspaceId } = await addWorkspace(db)
      const pipeId = await addPipe(db, workspaceId)
      const fileId = await addFile(db, { workspaceId, pipeId }, { status: 'uploading', lengthBytes: null })
      const bytes = randomBytes(tailBytes + SEAL_BYTES)
      await db.insert(uploadTails).values({ fileId, offsetBytes: 0, bytes })
      return workspaceId
    }
    const refusal = (workspaceId: string) => {
      try {
        return cap.assertRoom(workspaceId)
      } catch (error) {
        return (error as Error).message
      }
    }
    const greedy = await add(3.5 * MiB)
    const newcomer = await addWorkspace(db)
    await cap.refresh()
    expect(refusal(greedy)).toBeUndefined()

    const modest = await add(0.5 * MiB)
    await cap.refresh()
    expect(refusal(greedy)).toMatch('more than its share')
    expect([modest, newcomer.id].map(refusal)).toEqual([undefined, undefined])

    for (let i = 0; i < 8; i++) await add(0.5 * MiB)
    await cap.refresh()
    expect(refusal(modest)).toMatch('more than its share')
    expect(refusal(newcomer.id)).toMatch('reached its limit for the data of unfinished uploads')

    await db.delete(uploadTails)
    await cap.refresh()
    expect([greedy, modest, newcomer.id].map(refusal)).toEqual([undefined, undefined, undefined])
  })
})
