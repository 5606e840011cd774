import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import { systemClock } from '../../platform/kernel/clock.ts'
import { MemoryBudget } from '../../upload-memory/memory-budget.ts'
import { FIRST_PAGE_BYTES, PAGE_BYTES } from '../../upload-memory/page-pool.ts'
import { PartBuffer } from './part-buffer.ts'

it('keeps the pushed bytes in order, with their CRC32, whatever the sizes of the chunks', () => {
  const budget = new MemoryBudget(64 * 2 ** 20, { clock: systemClock })
  const buffer = new PartBuffer(budget.account({ workspaceId: 'a' }))
  const whole = randomBytes(300_000)
  let at = 0
  for (const size of [1, 10, 65_536, 5, 131_072, 1, 99_999, 3376]) {
    buffer.push(whole.subarray(at, at + size), 1000 + at)
    at += size
  }
  expect(at).toBe(whole.length)
  expect(Buffer.concat(buffer.chunks).equals(whole)).toBe(true)
  expect(buffer.joined().equals(whole)).toBe(true)
  for (const [from, to] of [
    [0, 1],
    [FIRST_PAGE_BYTES - 1, FIRST_PAGE_BYTES + PAGE_BYTES + 1],
    [299_999, 400_000],
  ] as const)
    expect(buffer.joined(from, to).equals(whole.subarray(from, to))).toBe(true)
  expect(buffer).toMatchObject({ bytes: whole.length, crc32: crc32(whole), sinceMs: 1000 })
  expect(budget.usedBytes).toBe(FIRST_PAGE_BYTES + 5 * PAGE_BYTES)
})

it('returns its pages only once, so that they can be reused', () => {
  const budget = new MemoryBudget(64 * 2 ** 20, { clock: systemClock })
  const account = budget.account({ workspaceId: 'a' })
  const first = new PartBuffer(account)
  first.push(Buffer.alloc(FIRST_PAGE_BYTES + 1), 0)
  const { buffer, byteOffset } = first.chunks[1]!
  first.free()
  first.free()
  expect(budget.usedBytes).toBe(0)
  const second = new PartBuffer(account)
  second.push(Buffer.alloc(FIRST_PAGE_BYTES + 2), 0)
  expect(second.chunks[1]!.buffer).toBe(buffer)
  expect(second.chunks[1]!.byteOffset).toBe(byteOffset)
  expect(second.heldBytes).toBe(FIRST_PAGE_BYTES + PAGE_BYTES)
})

it('holds little memory for a client that has sent little', () => {
  const budget = new MemoryBudget(64 * 2 ** 20, { clock: systemClock })
  new PartBuffer(budget.account({ workspaceId: 'a' })).push(Buffer.from('x'), 0)
  expect(budget.usedBytes).toBe(FIRST_PAGE_BYTES)
})

it('counts as forgotten if it is neither freed nor read by anyone when its account is closed', async () => {
  const budget = new MemoryBudget(64 * 2 ** 20, { clock: systemClock })
  const account = budget.account({ workspaceId: 'a' })
  const [read, forgotten] = [new PartBuffer(account), new PartBuffer(account)]
  for (const buffer of [read, forgotten]) buffer.push(Buffer.from('x'), 0)
  const sent = Promise.withResolvers<void>()
  read.keepUntil(sent.promise)
  read.free()
  const closed = account.close()
  expect(budget.usedBytes).toBe(2 * FIRST_PAGE_BYTES)
  sent.resolve()
  expect(await closed).toBe(FIRST_PAGE_BYTES)
  forgotten.free()
  expect(budget.usedBytes).toBe(0)
})
