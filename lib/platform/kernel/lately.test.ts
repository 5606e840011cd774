import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { releaseMemory } from '../../../server/release-memory.ts'
import { Lately } from './lately.ts'

const KEPT_MS = 60_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'Date'] }))
afterEach(() => void vi.useRealTimers())

type Item = { name: string }

/** These are separate functions, so that the test itself does not keep the items alive. */
function add(lately: Lately<Item>, name: string): WeakRef<Item> {
  const item = { name }
  lately.add(item)
  return new WeakRef(item)
}

/** A single garbage collection may miss an object that the stack still refers to. */
async function isHeld(item: WeakRef<Item>): Promise<boolean> {
  for (let tries = 0; tries < 10; tries++) {
    await turn()
    releaseMemory()
    if (item.deref() === undefined) return false
  }
  return true
}

it('contains entries younger than a minute, in order', () => {
  const lately = new Lately<Item>(() => Date.now())
  add(lately, 'first')
  vi.setSystemTime(Date.now() + KEPT_MS / 2)
  add(lately, 'second')
  expect(lately.all().map(({ name }) => name)).toEqual(['first', 'second'])
  vi.setSystemTime(Date.now() + KEPT_MS / 2 + 1)
  expect(lately.all().map(({ name }) => name)).toEqual(['second'])
})

it('keeps the newest ten thousand entries', () => {
  const lately = new Lately<number>(() => Date.now())
  for (let n = 0; n < 10_005; n++) lately.add(n)
  expect(lately.all()).toHaveLength(10_000)
  expect(lately.all()[0]).toBe(5)
})

it('drops expired entries from memory even if nothing is added or read', async () => {
  const lately = new Lately<Item>(() => Date.now())
  const first = add(lately, 'first')
  vi.advanceTimersByTime(KEPT_MS - 5000)
  const second = add(lately, 'second')
  vi.advanceTimersByTime(5000)
  expect(await isHeld(first)).toBe(false)
  expect(await isHeld(second)).toBe(true)
  vi.advanceTimersByTime(KEPT_MS + 5000)
  expect(await isHeld(second)).toBe(false)
  expect(vi.getTimerCount()).toBe(0)
})
