import { beforeEach, expect, it, vi } from 'vitest'
import { bucketOf, fill, MiB, openBudget, replaceTimers } from '../../test/support/memory-budget.ts'
import type { MemoryAccount } from './memory-budget.ts'
import type { Spillable } from './spill-slow-parts.ts'

let now = 0
beforeEach(() => {
  now = 0
})
replaceTimers()

const openAtNow = () => openBudget({ now: () => now })
const openAccount = () => openAtNow().account(bucketOf('a'))

/** A half-filled part that returns its memory when it is spilled. */
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

it('spills the slowest parts to the database first, before it is full', async () => {
  const account = openAccount()
  const spilled: number[] = []
  const again = part(account, 30, 6 * MiB, spilled)
  part(account, 10, 6 * MiB, spilled)
  part(account, 20, 6 * MiB, spilled)
  // The account has started another part in the meantime.
  account.offer(again)
  expect(spilled).toEqual([])
  part(account, 40, 6 * MiB, spilled)
  expect(spilled).toEqual([])
  now = 3010
  await vi.advanceTimersByTimeAsync(300)
  expect(spilled).toEqual([10])
  expect(account.full).toBe(false)
})

it('spills one part at a time while no reader is waiting, and several once a reader is waiting', async () => {
  const account = openAccount()
  let spilling = 0
  const forever = new Promise<void>(() => {})
  for (let n = 0; n < 6; n++) {
    const spill = () => {
      spilling += 1
      return forever
    }
    account.offer({ heldBytes: () => 4 * MiB, sinceMs: () => 0, spill })
    account.take(4 * MiB)
  }
  now = 4000
  await vi.advanceTimersByTimeAsync(1000)
  expect(spilling).toBe(1)
  account.take(4 * MiB)
  account.whenFree(() => {})
  expect(spilling).toBe(4)
})

it("does not spill fast clients' parts while other parts are in flight, unless it is stuck", async () => {
  const account = openAccount()
  const spilled: number[] = []
  account.take(12 * MiB)
  account.leaving(12 * MiB)
  part(account, 0, 16 * MiB, spilled)
  expect(account.full).toBe(true)
  account.whenFree(() => {})
  await vi.advanceTimersByTimeAsync(1000)
  expect(spilled).toEqual([])
  account.leaving(-12 * MiB)
  await vi.advanceTimersByTimeAsync(300)
  expect(spilled).toEqual([0])
})

it('spills many small buffers to free their memory', async () => {
  const account = openAccount()
  const spilled: number[] = []
  while (!account.full) part(account, 0, 4096, spilled)
  const { promise: free, resolve } = Promise.withResolvers<void>()
  account.whenFree(resolve)
  await free
  expect(spilled.length).toBeGreaterThan(0)
})

it('spills the parts of the bucket that is short of memory, not those of other buckets', () => {
  const budget = openAtNow()
  const hanging = budget.account(bucketOf('a'))
  hanging.take(24 * MiB)
  hanging.leaving(24 * MiB)
  const others: number[] = []
  part(hanging, 0, 2 * MiB, others)
  const short = budget.account(bucketOf('b'))
  const spilled: number[] = []
  part(short, 1, 12 * MiB, spilled)
  short.whenFree(() => {})
  expect({ spilled, others }).toEqual({ spilled: [1], others: [] })
})

it('spills parts of silent clients in any workspace if the workspace that needs memory has no part to spill', async () => {
  const budget = openAtNow()
  const account = (name: string) => budget.account(bucketOf(name))
  const spilled: number[] = []
  for (let n = 0; n < 40; n++) part(account(`silent ${n}`), n, MiB, spilled)
  for (let n = 0; !account(`new ${n}`).full; n++) {
    const sending = account(`sending ${n}`)
    sending.leaving(fill(sending))
  }
  const { promise: free, resolve } = Promise.withResolvers<void>()
  account('short').whenFree(resolve)
  now = 2990
  await vi.advanceTimersByTimeAsync(1000)
  expect(spilled).toEqual([])
  now = 3000
  await vi.advanceTimersByTimeAsync(300)
  expect(spilled).toEqual([0])
  await free
})

it('never starts to spill a part that is already being spilled', async () => {
  const account = openAccount()
  let running = 0
  let most = 0
  const release = Promise.withResolvers<void>()
  account.offer({
    heldBytes: () => 24 * MiB,
    sinceMs: () => 0,
    async spill() {
      running += 1
      most = Math.max(most, running)
      await release.promise
      running -= 1
      account.give(24 * MiB)
    },
  })
  now = 4000
  account.take(24 * MiB)
  await vi.advanceTimersByTimeAsync(1000)
  release.resolve()
  await release.promise
  expect(most).toBe(1)
})
