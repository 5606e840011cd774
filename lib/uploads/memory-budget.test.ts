import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryBudget, type Spillable } from './memory-budget.ts'

let now = 0
const clock = { now: () => now }
beforeEach(() => {
  now = 0
  vi.useFakeTimers()
})
afterEach(() => void vi.useRealTimers())

/** A half-filled part that gives its memory back when it is spilled. */
function part(
  budget: ReturnType<typeof createMemoryBudget>,
  sinceMs: number,
  bytes: number,
  log: number[],
): Spillable {
  let held = bytes
  const offer: Spillable = {
    heldBytes: () => held,
    sinceMs: () => sinceMs,
    async spill() {
      log.push(sinceMs)
      const given = held
      held = 0
      budget.give(given)
    },
  }
  budget.offer(offer)
  budget.take(bytes)
  return offer
}

it('moves the parts that take longest to fill into the database first, before it is full', async () => {
  const budget = createMemoryBudget(1_000_000, { clock })
  const spilled: number[] = []
  part(budget, 30, 200_000, spilled)
  part(budget, 10, 200_000, spilled)
  part(budget, 20, 200_000, spilled)
  expect(spilled).toEqual([])
  part(budget, 40, 200_000, spilled)
  expect(spilled).toEqual([])
  now = 3010
  await vi.advanceTimersByTimeAsync(300)
  expect(spilled).toEqual([10])
  expect(budget.full).toBe(false)
})

it('does not move the parts of fast clients while others are on their way out, unless it is stuck', async () => {
  const budget = createMemoryBudget(1_000_000, { clock })
  const spilled: number[] = []
  budget.take(600_000)
  budget.leaving(600_000)
  part(budget, 0, 400_000, spilled)
  expect(budget.full).toBe(true)
  await vi.advanceTimersByTimeAsync(1000)
  expect(spilled).toEqual([])
  budget.leaving(-600_000)
  await vi.advanceTimersByTimeAsync(300)
  expect(spilled).toEqual([0])
})

it('holds readers while it is full, and calls them back as memory comes free', () => {
  const budget = createMemoryBudget(1000, { clock })
  const called: string[] = []
  budget.take(1000)
  expect(budget.full).toBe(true)
  budget.whenFree(() => called.push('first'))
  budget.whenFree(() => {
    called.push('second')
  })
  expect(called).toEqual([])
  budget.give(1)
  expect(called).toEqual(['first', 'second'])
})

it('lets no spill of one part run twice at once', async () => {
  const budget = createMemoryBudget(100_000, { clock })
  let running = 0
  let most = 0
  const release = Promise.withResolvers<void>()
  budget.offer({
    heldBytes: () => 90_000,
    sinceMs: () => 0,
    async spill() {
      running += 1
      most = Math.max(most, running)
      await release.promise
      running -= 1
      budget.give(90_000)
    },
  })
  budget.take(90_000)
  now = 4000
  budget.take(1)
  budget.take(1)
  release.resolve()
  await release.promise
  expect(most).toBe(1)
})
