import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { createMemoryBudget } from './memory-budget.ts'
import { PAGE_BYTES } from './page-pool.ts'
import { createPartBuffer } from './part-buffer.ts'

it('keeps what was pushed, in order, with its CRC32, whatever the sizes of the chunks', () => {
  const budget = createMemoryBudget(16 * 2 ** 20, { clock: systemClock })
  const buffer = createPartBuffer(budget)
  const whole = randomBytes(300_000)
  let at = 0
  for (const size of [1, 10, 65_536, 5, 131_072, 1, 99_999, 3376]) {
    buffer.push(whole.subarray(at, at + size), 1000 + at)
    at += size
  }
  expect(at).toBe(whole.length)
  expect(Buffer.concat(buffer.chunks).equals(whole)).toBe(true)
  expect(buffer).toMatchObject({ bytes: whole.length, crc32: crc32(whole), sinceMs: 1000 })
  expect(budget.usedBytes).toBe(Math.ceil(whole.length / PAGE_BYTES) * PAGE_BYTES)
})

it('gives its pages back once, and they are used again', () => {
  const budget = createMemoryBudget(16 * 2 ** 20, { clock: systemClock })
  const first = createPartBuffer(budget)
  first.push(Buffer.from('one'), 0)
  const page = first.chunks[0]!.buffer
  first.free()
  first.free()
  expect(budget.usedBytes).toBe(0)
  const second = createPartBuffer(budget)
  second.push(Buffer.from('two'), 0)
  expect(second.chunks[0]!.buffer).toBe(page)
  expect(String(second.chunks[0])).toBe('two')
})
