import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type MemoryAccount, MemoryBudget } from './memory-budget.ts'
import type { Spillable } from './spill-slow-parts.ts'

const MiB = 1024 * 1024
const LIMIT_BYTES = 64 * MiB
let now = 0
const clock = { now: () => now }
beforeEach(() => {
  now = 0
  vi.useFakeTimers()
})
afterEach(() => void vi.useRealTimers())

const openBudget = () => new MemoryBudget(LIMIT_BYTES, { clock })
const bucketOf = (workspaceId: string) => ({ workspaceId })
const openAccount = () => openBudget().account(bucketOf('a'))
const unaborted = new AbortController().signal

function fill(account: MemoryAccount): number {
  let bytes = 0
  for (; !account.full; bytes += 65_536) account.take(65_536)
  return bytes
}

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

it('moves the parts that take longest to fill into the database first, before it is full', async () => {
  const account = openAccount()
  const spilled: number[] = []
  const again = part(account, 30, 6 * MiB, spilled)
  part(account, 10, 6 * MiB, spilled)
  part(account, 20, 6 * MiB, spilled)
  // It has started another part since.
  account.offer(again)
  expect(spilled).toEqual([])
  part(account, 40, 6 * MiB, spilled)
  expect(spilled).toEqual([])
  now = 3010
  await vi.advanceTimersByTimeAsync(300)
  expect(spilled).toEqual([10])
  expect(account.full).toBe(false)
})

it('moves one part at a time while nobody waits, and several once somebody does', async () => {
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

it('does not move the parts of fast clients while others are on their way out, unless it is stuck', async () => {
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

it('moves the few bytes of each of a crowd out, for the memory that they hold', async () => {
  const account = openAccount()
  const spilled: number[] = []
  while (!account.full) part(account, 0, 4096, spilled)
  const { promise: free, resolve } = Promise.withResolvers<void>()
  account.whenFree(resolve)
  await free
  expect(spilled.length).toBeGreaterThan(0)
})

it('holds readers while it is full, and calls them back in turn as memory comes free', () => {
  const account = openAccount()
  const called: string[] = []
  fill(account)
  account.whenFree(() => {
    called.push('first')
    account.take(MiB)
  })
  account.whenFree(() => {
    called.push('second')
  })
  account.give(1)
  expect(called).toEqual([])
  account.give(MiB)
  expect(called).toEqual(['first'])
  account.give(MiB)
  expect(called).toEqual(['first', 'second'])
})

it('leaves every workspace room, however many others take what they get', () => {
  const budget = openBudget()
  for (let n = 1; n <= 6; n++) {
    expect(fill(budget.account(bucketOf(`workspace ${n}`)))).toBeGreaterThan(MiB)
    expect(budget.usedBytes).toBeLessThanOrEqual(LIMIT_BYTES)
  }
})

it('keeps a quarter for workspaces that hold less than one part', () => {
  const budget = openBudget()
  const fast = Array.from({ length: 12 }, (_, n) => budget.account(bucketOf(`workspace ${n}`)))
  for (const account of fast) account.take(8 * MiB - 65_536)
  // More than is available, since each started a part: freed memory goes to nobody with a part.
  for (const account of fast.slice(3)) account.give(8 * MiB - 65_536)
  for (const account of fast.slice(0, 3)) fill(account)
  const free = LIMIT_BYTES - budget.usedBytes
  expect(free).toBeGreaterThan(LIMIT_BYTES / 4)
  expect(fill(budget.account(bucketOf('another')))).toBeGreaterThanOrEqual(8 * MiB)
})

it('leaves a bucket room where another one of its workspace hangs', () => {
  const budget = openBudget()
  fill(budget.account(bucketOf('a')))
  expect(fill(budget.account(bucketOf('a')))).toBeGreaterThan(MiB)
})

it('counts what many buckets of one workspace hold as one', () => {
  const budget = openBudget()
  for (let n = 0; n < 12; n++) fill(budget.account(bucketOf('a')))
  expect(budget.usedBytes).toBeLessThan(LIMIT_BYTES / 2)
  expect(fill(budget.account(bucketOf('b')))).toBeGreaterThanOrEqual(8 * MiB)
})

it('moves the parts of a bucket out that is short of memory, not those of others', () => {
  const budget = openBudget()
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

it('moves the parts of silent clients out for a workspace that has none, whosever they are', async () => {
  const budget = openBudget()
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

it('lets no spill of one part run twice at once', async () => {
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

describe('memory in one piece', () => {
  it('is there at once while its workspace holds little', async () => {
    const budget = openBudget()
    const giveBack = await budget.account(bucketOf('a')).reserve(8 * MiB, unaborted)
    expect(budget.usedBytes).toBe(8 * MiB)
    giveBack()
    expect(budget.usedBytes).toBe(0)
  })

  it('comes to each workspace in turn, though all the memory for parts is used up, and never passes the limit', async () => {
    const budget = openBudget()
    for (let n = 0; n < 40; n++) fill(budget.account(bucketOf(`workspace ${n}`)))
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

  it('is not waited for by who has gone', async () => {
    const budget = openBudget()
    for (let n = 0; n < 40; n++) fill(budget.account(bucketOf(`workspace ${n}`)))
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

  it('is not waited for where none is needed', async () => {
    const budget = openBudget()
    for (let n = 0; n < 40; n++) fill(budget.account(bucketOf(`workspace ${n}`)))
    const account = budget.account(bucketOf('workspace 0'))
    await account.reserve(8 * MiB, unaborted)
    const before = budget.usedBytes
    const giveBack = await account.reserve(0, unaborted)
    giveBack()
    expect(budget.usedBytes).toBe(before)
  })

  it('is refused where no node of that size can ever have it', async () => {
    const asked = openAccount().reserve(11 * MiB, unaborted)
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('memory for answers', () => {
  it('is there for each workspace when all else is used up, and bounded', async () => {
    const budget = openBudget()
    for (let n = 0; n < 40; n++) fill(budget.account(bucketOf(`workspace ${n}`)))
    await budget.account(bucketOf('workspace 0')).reserve(10 * MiB, unaborted)
    const takeAll = (workspaceId: string) => {
      const responses = budget.responses(workspaceId)
      let bytes = 0
      for (; responses.take(1024); bytes += 1024);
      return bytes
    }
    expect(takeAll('hostile')).toBe(MiB / 4)
    expect(takeAll('another')).toBe(MiB / 4)
    for (let n = 0; n < 10; n++) takeAll(`workspace ${n}`)
    expect(budget.usedBytes).toBeLessThanOrEqual(LIMIT_BYTES)
  })
})

describe('a share that an operator sets', () => {
  it('counts at once for what a workspace opened before, and leaves the others all they had', () => {
    const budget = openBudget()
    const [mine, theirs] = [budget.account(bucketOf('a')), budget.account(bucketOf('b'))]
    mine.take(12 * MiB)
    expect(mine.full).toBe(false)
    budget.limitWorkspaces(new Map([['a', 20]]))
    expect(mine.full).toBe(true)
    expect(theirs.full).toBe(false)
    // Nothing was taken from it: it continues once enough is durable.
    expect(budget.usedBytes).toBe(12 * MiB)
    mine.give(6 * MiB)
    expect(mine.full).toBe(false)
    expect(fill(theirs)).toBeGreaterThan(16 * MiB)
  })

  it('counts for all buckets of a workspace together, and for what it opens later', () => {
    const budget = openBudget()
    budget.limitWorkspaces(new Map([['a', 20]]))
    fill(budget.account(bucketOf('a')))
    expect(budget.usedBytes).toBeLessThan(11 * MiB)
    expect(budget.account(bucketOf('a')).full).toBe(true)
  })

  it('never is less than one part, so that uploads go on', () => {
    const budget = openBudget()
    budget.limitWorkspaces(new Map([['a', 1]]))
    expect(fill(budget.account(bucketOf('a')))).toBe(8 * MiB)
  })

  it('wakes those who wait when it is raised or lifted', () => {
    const budget = openBudget()
    budget.limitWorkspaces(new Map([['a', 1]]))
    const account = budget.account(bucketOf('a'))
    fill(account)
    const woken: string[] = []
    account.whenFree(() => woken.push('a'))
    expect(woken).toEqual([])
    budget.limitWorkspaces(new Map())
    expect(woken).toEqual(['a'])
  })
})
