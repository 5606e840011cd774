import { expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { dispatching } from '../../test/support/dispatching.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { addOutput } from '../../test/support/webhook-rows.ts'
import { createTestWorkspace } from '../../test/support/workspace.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { listDeliveries } from '../webhooks/log/list-deliveries.ts'
import { resendDelivery } from '../webhooks/log/resend.ts'
import { isTopic, readSnapshot, type Topic } from './live.ts'

describeWithDatabase("a page's live topics", (database) => {
  it('change when a delivery is resent, even if it looks the same before and after', async () => {
    const runtime = testRuntime(database())
    const receiver = await startReceiver()
    const { workspaceId, actor, pipe } = await createTestWorkspace(runtime)
    const output = await addOutput(runtime.db, receiver.url, { workspaceId, pipeId: pipe.id })
    const worker = dispatching(runtime)
    await worker.event(output)
    await worker.work()
    const [delivery] = (await listDeliveries(runtime, actor, { limit: 1 })).data
    const look = (topic: Topic) => readSnapshot(runtime.db, workspaceId, topic)
    const topics: Topic[] = [
      'deliveries',
      'overview',
      `delivery:${delivery!.id}`,
      `file:${delivery!.fileId!}`,
    ]
    const before = await Promise.all(topics.map(look))
    expect(await Promise.all(topics.map(look))).toEqual(before)
    // Attempts in the same millisecond may have ids in any order.
    runtime.clock.advance(1)
    await resendDelivery(runtime, actor, delivery!.id)
    await worker.work()
    const [again] = (await listDeliveries(runtime, actor, { limit: 1 })).data
    expect([again!.state, again!.attempts.length]).toEqual(['delivered', 2])
    for (const [at, topic] of topics.entries()) {
      expect((await look(topic)).mark, topic).not.toBe(before[at]!.mark)
    }
    await receiver.stop()
  })

  it('are the same for all missing items', async () => {
    const runtime = testRuntime(database())
    const { workspaceId } = await createTestWorkspace(runtime)
    const look = (topic: Topic) => readSnapshot(runtime.db, workspaceId, topic)
    expect(await look('file:nothing')).toEqual(await look(`file:${uuidv7()}`))
  })
})

it('recognizes valid topics', () => {
  expect(['files', `file:${uuidv7()}`, `delivery:${uuidv7()}`].every(isTopic)).toBe(true)
  expect(['', 'file:', 'file:1', 'pipe', `pipe:${uuidv7()}`].some(isTopic)).toBe(false)
})
