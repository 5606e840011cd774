import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { createTestWorkspace } from '../../test/support/workspace.ts'
import { seconds } from '../platform/kernel/clock.ts'
import { lockConfiguration, unlockConfiguration } from './configuration-lock.ts'

describeWithDatabase('the configuration lock', (database) => {
  const open = async () => {
    const runtime = testRuntime(database())
    const { actor } = await createTestWorkspace(runtime)
    const lock = (holder: string) => lockConfiguration(runtime, actor, { holder })
    const unlock = (holder: string) => unlockConfiguration(runtime, actor, { holder })
    return { runtime, lock, unlock, one: randomUUID(), two: randomUUID() }
  }

  it('lets its holder renew it, and tells others who holds it', async () => {
    const { runtime, lock, one, two } = await open()
    await lock(one)
    runtime.clock.advance(seconds(50))
    await lock(one)
    runtime.clock.advance(seconds(50))
    await expect(lock(two)).rejects.toThrow(/by customer-\d+@example.com, until \S+Z at the latest/)
    await expect((await open()).lock(two)).resolves.toMatchObject({ holder: two })
  })

  it('expires a minute after its last renewal, for example if its holder was killed', async () => {
    const { runtime, lock, one, two } = await open()
    await lock(one)
    runtime.clock.advance(seconds(61))
    await lock(two)
    await expect(lock(one)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('is granted to only one of many simultaneous requests', async () => {
    const { lock } = await open()
    const asked = await Promise.allSettled(Array.from({ length: 8 }, () => lock(randomUUID())))
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('can only be released by its holder', async () => {
    const { lock, unlock, one, two } = await open()
    await lock(one)
    await expect(unlock(two)).rejects.toMatchObject({ code: 'conflict' })
    await expect(lock(two)).rejects.toMatchObject({ code: 'conflict' })
    await unlock(one)
    await lock(two)
  })
})
