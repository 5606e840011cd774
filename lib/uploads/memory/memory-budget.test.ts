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

it('pauses readers while it is full, and resumes them in turn as memory becomes free', () => {
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

it('leaves room for every workspace, however much the others take', () => {
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
  // Together, they have taken more than is available, because each has started a part. None of them gets any of the
  // freed memory.
  for (const account of fast.slice(3)) account.give(8 * MiB - 65_536)
  for (const account of fast.slice(0, 3)) fill(account)
  const free = LIMIT_BYTES - budget.usedBytes
  expect(free).toBeGreaterThan(LIMIT_BYTES / 4)
  expect(fill(budget.account(bucketOf('another')))).toBeGreaterThanOrEqual(8 * MiB)
})

it('leaves room for a bucket while another bucket in its workspace hangs', () => {
  const budget = openBudget()
  fill(budget.account(bucketOf('a')))
  expect(fill(budget.account(bucketOf('a')))).toBeGreaterThan(MiB)
})

it('counts all buckets of a workspace together', () => {
  const budget = openBudget()
  for (let n = 0; n < 12; n++) fill(budget.account(bucketOf('a')))
  expect(budget.usedBytes).toBeLessThan(LIMIT_BYTES / 2)
  expect(fill(budget.account(bucketOf('b')))).toBeGreaterThanOrEqual(8 * MiB)
})

it('spills the parts of the bucket that is short of memory, not those of other buckets', () => {
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

it('spills parts of silent clients in any workspace if the workspace that needs memory has no part to spill', async () => {
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

describe('memory taken in one step', () => {
  it('is available immediately while its workspace holds little', async () => {
    const budget = openBudget()
    const giveBack = await budget.account(bucketOf('a')).reserve(8 * MiB, unaborted)
    expect(budget.usedBytes).toBe(8 * MiB)
    giveBack()
    expect(budget.usedBytes).toBe(0)
  })

  it('goes to each workspace in turn when all memory for parts is used up, and never exceeds the limit', async () => {
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

  it('is not given to a request that was aborted', async () => {
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

  it('is granted immediately to a request for zero bytes', async () => {
    const budget = openBudget()
    for (let n = 0; n < 40; n++) fill(budget.account(bucketOf(`workspace ${n}`)))
    const account = budget.account(bucketOf('workspace 0'))
    await account.reserve(8 * MiB, unaborted)
    const before = budget.usedBytes
    const giveBack = await account.reserve(0, unaborted)
    giveBack()
    expect(budget.usedBytes).toBe(before)
  })

  it('is refused if a node of this size can never have it', async () => {
    const asked = openAccount().reserve(11 * MiB, unaborted)
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describe('memory for responses', () => {
  it('is available to each workspace when everything else is used up, within a limit', async () => {
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
  it("applies immediately to a workspace's open uploads, and takes nothing from the others", () => {
    const budget = openBudget()
    const [mine, theirs] = [budget.account(bucketOf('a')), budget.account(bucketOf('b'))]
    mine.take(12 * MiB)
    expect(mine.full).toBe(false)
    budget.limitWorkspaces(new Map([['a', 20]]))
    expect(mine.full).toBe(true)
    expect(theirs.full).toBe(false)
    // The workspace keeps its memory, and continues once enough of its bytes are durable.
    expect(budget.usedBytes).toBe(12 * MiB)
    mine.give(6 * MiB)
    expect(mine.full).toBe(false)
    expect(fill(theirs)).toBeGreaterThan(16 * MiB)
  })

  it('applies to all buckets of a workspace together, and to later uploads', () => {
    const budget = openBudget()
    budget.limitWorkspaces(new Map([['a', 20]]))
    fill(budget.account(bucketOf('a')))
    expect(budget.usedBytes).toBeLessThan(11 * MiB)
    expect(budget.account(bucketOf('a')).full).toBe(true)
  })

  it('is always at least one part, so that uploads make progress', () => {
    const budget = openBudget()
    budget.limitWorkspaces(new Map([['a', 1]]))
    expect(fill(budget.account(bucketOf('a')))).toBe(8 * MiB)
  })

  it('wakes waiting requests when it is raised or removed', () => {
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
