import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryBudget, type MemoryAccount, type Spillable } from './memory-budget.ts'

let now = 0
const clock = { now: () => now }
beforeEach(() => {
  now = 0
  vi.useFakeTimers()
})
afterEach(() => void vi.useRealTimers())

/** A half-filled part that gives its memory back when it is spilled. */
function part(account: MemoryAccount, sinceMs: number, bytes: number, log: number[]): Spillable {
  let held = bytes
  const offer: Spillable = {
    heldBytes: () => held,
    sinceMs: () => sinceMs,
    async spill() {
      log.push(sinceMs)
      const given = held
      held = 0
      account.give(given)
    },
  }
  account.offer(offer)
  account.take(bytes)
  return offer
}

it('moves the parts that take longest to fill into the database first, before it is full', async () => {
  const account = createMemoryBudget(1_000_000, { clock }).account({})
  const spilled: number[] = []
  const again = part(account, 30, 160_000, spilled)
  part(account, 10, 160_000, spilled)
  part(account, 20, 160_000, spilled)
  // It has begun another part since.
  account.offer(again)
  expect(spilled).toEqual([])
  part(account, 40, 160_000, spilled)
  expect(spilled).toEqual([])
  now = 3010
  await vi.advanceTimersByTimeAsync(300)
  expect(spilled).toEqual([10])
  expect(account.full).toBe(false)
})

it('moves one part at a time while nobody waits, and several once somebody does', async () => {
  const account = createMemoryBudget(1_000_000, { clock }).account({})
  let spilling = 0
  const forever = new Promise<void>(() => {})
  for (let n = 0; n < 6; n++) {
    const spill = () => {
      spilling += 1
      return forever
    }
    account.offer({ heldBytes: () => 100_000, sinceMs: () => 0, spill })
    account.take(100_000)
  }
  now = 4000
  await vi.advanceTimersByTimeAsync(1000)
  expect(spilling).toBe(1)
  account.take(100_000)
  account.whenFree(() => {})
  expect(spilling).toBe(4)
})

it('does not move the parts of fast clients while others are on their way out, unless it is stuck', async () => {
  const account = createMemoryBudget(1_000_000, { clock }).account({})
  const spilled: number[] = []
  account.take(300_000)
  account.leaving(300_000)
  part(account, 0, 400_000, spilled)
  expect(account.full).toBe(true)
  account.whenFree(() => {})
  await vi.advanceTimersByTimeAsync(1000)
  expect(spilled).toEqual([])
  account.leaving(-300_000)
  await vi.advanceTimersByTimeAsync(300)
  expect(spilled).toEqual([0])
})

it('moves the few bytes of each of a crowd out, for the memory that they hold', async () => {
  const account = createMemoryBudget(4_096_000, { clock }).account({})
  const spilled: number[] = []
  for (let n = 0; n < 1000; n++) part(account, 0, 4096, spilled)
  expect(account.full).toBe(true)
  const { promise: free, resolve } = Promise.withResolvers<void>()
  account.whenFree(resolve)
  await free
  expect(spilled.length).toBeGreaterThan(100)
})

it('holds readers while it is full, and calls them back as memory comes free', () => {
  const account = createMemoryBudget(1000, { clock }).account({})
  const called: string[] = []
  account.take(1000)
  expect(account.full).toBe(true)
  account.whenFree(() => called.push('first'))
  account.whenFree(() => {
    called.push('second')
  })
  account.give(1)
  expect(called).toEqual([])
  account.give(400)
  expect(called).toEqual(['first', 'second'])
})

it('leaves room for others, however many buckets hang', () => {
  const budget = createMemoryBudget(100_000, { clock })
  for (let hanging = 1; hanging <= 3; hanging++) {
    const account = budget.account({})
    while (!account.full) account.take(100)
    account.leaving(50_000)
    const other = budget.account({})
    expect(other.full).toBe(false)
    expect(budget.limitBytes - budget.usedBytes).toBeGreaterThan(3000)
  }
})

it('moves the parts of a bucket out that is short of memory, not those of others', () => {
  const budget = createMemoryBudget(1_000_000, { clock })
  const hanging = budget.account({})
  hanging.take(600_000)
  hanging.leaving(600_000)
  const others: number[] = []
  part(hanging, 0, 50_000, others)
  const short = budget.account({})
  const spilled: number[] = []
  part(short, 1, 240_000, spilled)
  short.whenFree(() => {})
  expect({ spilled, others }).toEqual({ spilled: [1], others: [] })
})

it('lets no spill of one part run twice at once', async () => {
  const account = createMemoryBudget(100_000, { clock }).account({})
  let running = 0
  let most = 0
  const release = Promise.withResolvers<void>()
  account.offer({
    heldBytes: () => 90_000,
    sinceMs: () => 0,
    async spill() {
      running += 1
      most = Math.max(most, running)
      await release.promise
      running -= 1
      account.give(90_000)
    },
  })
  now = 4000
  account.take(90_000)
  await vi.advanceTimersByTimeAsync(1000)
  release.resolve()
  await release.promise
  expect(most).toBe(1)
})
