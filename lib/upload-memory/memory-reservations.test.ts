import { describe, expect, it } from 'vitest'
import {
  bucketOf,
  LIMIT_BYTES,
  MiB,
  openBudget,
  openFullBudget,
  replaceTimers,
} from '../../test/support/memory-budget.ts'

replaceTimers()

const unaborted = new AbortController().signal

describe('memory taken in one step', () => {
  it('is available immediately while its workspace holds little', async () => {
    const budget = openBudget()
    const giveBack = await budget.account(bucketOf('a')).reserve(8 * MiB, unaborted)
    expect(budget.usedBytes).toBe(8 * MiB)
    giveBack()
    expect(budget.usedBytes).toBe(0)
  })

  it('goes to each workspace in turn when all memory for parts is used up, and never exceeds the limit', async () => {
    const budget = openFullBudget()
    const order: string[] = []
    const ask = async (name: string, bytes: number) => {
      const giveBack = await budget.account(bucketOf(name)).reserve(bytes, unaborted)
      order.push(name)
      expect(budget.usedBytes).toBeLessThanOrEqual(LIMIT_BYTES)
      await Promise.resolve()
      giveBack()
    }
    const sizes = [8 * MiB, 8 * MiB, 8 * MiB, 7 * MiB]
    const asked = sizes.map((bytes) => ask('workspace 0', bytes))
    asked.push(ask('workspace 1', 8 * MiB))
    await Promise.all(asked)
    expect(order).toHaveLength(5)
    expect(order.indexOf('workspace 1')).toBe(1)
  })

  it('is not given to a request that was aborted', async () => {
    const budget = openFullBudget()
    const account = budget.account(bucketOf('workspace 0'))
    const giveBack = await account.reserve(8 * MiB, unaborted)
    const before = budget.usedBytes
    const gone = new AbortController()
    const waiting = account.reserve(8 * MiB, gone.signal)
    gone.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    giveBack()
    expect(budget.usedBytes).toBe(before - 8 * MiB)
  })

  it('is granted immediately to a request for zero bytes', async () => {
    const budget = openFullBudget()
    const account = budget.account(bucketOf('workspace 0'))
    await account.reserve(8 * MiB, unaborted)
    const before = budget.usedBytes
    const giveBack = await account.reserve(0, unaborted)
    giveBack()
    expect(budget.usedBytes).toBe(before)
  })

  it('is refused if a node of this size can never have it', async () => {
    const asked = openBudget()
      .account(bucketOf('a'))
      .reserve(11 * MiB, unaborted)
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' })
  })
})
