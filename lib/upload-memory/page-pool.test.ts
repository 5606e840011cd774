import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  createPagePool,
  FIRST_PAGE_BYTES,
  PAGE_BYTES,
  type PagePool,
  SLAB_BYTES,
  SLAB_KEPT_MS,
} from './page-pool.ts'

const SLAB_PAGES = SLAB_BYTES / PAGE_BYTES
const take = (pool: PagePool, pages: number) => Array.from({ length: pages }, () => pool.take())

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('never hands out memory that is in use, and reuses returned memory', () => {
  const pool = createPagePool()
  const pages = take(pool, SLAB_PAGES + 10)
  for (const [n, page] of pages.entries()) page.fill(n % 251)
  for (const [n, page] of pages.entries()) expect(page.equals(Buffer.alloc(PAGE_BYTES, n % 251))).toBe(true)
  for (const page of pages) pool.give(page)
  const again = new Set(take(pool, SLAB_PAGES + 10))
  expect(pages.every((page) => again.has(page))).toBe(true)
})

it('uses the oldest slab first, so that later slabs become empty', () => {
  const pool = createPagePool()
  const pages = take(pool, SLAB_PAGES + 2)
  const inFirst = pages[7]!
  const inSecond = pages.at(-1)!
  pool.give(inFirst)
  pool.give(inSecond)
  expect(pool.take()).toBe(inFirst)
  expect(pool.take()).toBe(inSecond)
})

it('returns a slab to the system once it has been empty for a minute', () => {
  const pool = createPagePool()
  const pages = take(pool, SLAB_PAGES + 1)
  const inSecond = pages.at(-1)!
  pool.give(inSecond)
  vi.advanceTimersByTime(SLAB_KEPT_MS - 1)
  expect(pool.take()).toBe(inSecond)
  vi.advanceTimersByTime(SLAB_KEPT_MS)
  expect(inSecond.length).toBe(PAGE_BYTES)
  pool.give(inSecond)
  vi.advanceTimersByTime(SLAB_KEPT_MS)
  expect(inSecond.length).toBe(0)
  expect(pages[0]!.length).toBe(PAGE_BYTES)
  expect(pool.take().length).toBe(PAGE_BYTES)
})

it('ignores returned memory that is not its own', () => {
  const pool = createPagePool()
  const pages = take(pool, 2)
  const foreign = Buffer.alloc(PAGE_BYTES)
  pool.give(foreign)
  expect([...pages, foreign]).not.toContain(pool.take())
})

it('keeps first pages apart from the others, and reuses and returns them in the same way', () => {
  const pool = createPagePool()
  const first = Array.from({ length: SLAB_BYTES / FIRST_PAGE_BYTES + 1 }, () => pool.takeFirst())
  const other = pool.take()
  expect(new Set(first.map(({ buffer }) => buffer)).size).toBe(2)
  expect(first.map(({ buffer }) => buffer)).not.toContain(other.buffer)
  expect(first.every(({ length }) => length === FIRST_PAGE_BYTES)).toBe(true)
  const last = first.at(-1)!
  pool.give(last)
  expect(pool.takeFirst()).toBe(last)
  pool.give(last)
  vi.advanceTimersByTime(SLAB_KEPT_MS)
  expect([last.length, other.length]).toEqual([0, PAGE_BYTES])
})
