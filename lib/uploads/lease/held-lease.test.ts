import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { UPLOAD_TERMS } from '../rules/upload-terms.ts'
import { HeldLease } from './held-lease.ts'

let now: number

beforeEach(() => {
  now = 1000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})

afterEach(() => void vi.restoreAllMocks())

function openLease(ends = { forget() {}, async releaseRow() {} }) {
  const taken = { rowId: 'f', fence: 1, claim: 'c', madeMs: now }
  return new HeldLease(taken, { terms: UPLOAD_TERMS, ...ends })
}

it('is due for renewal at a certain age, unless it is lost', () => {
  const { renewMs } = UPLOAD_TERMS
  const lease = openLease()
  expect(lease.isDue()).toBe(false)
  now += renewMs
  expect(lease.isDue()).toBe(true)
  lease.renewed(now)
  expect(lease.isDue()).toBe(false)
  now += renewMs
  expect(lease.isDue()).toBe(true)
  lease.lose()
  expect(lease.isDue()).toBe(false)
})

it('neither expires nor lasts longer when the clock is set', () => {
  const lease = openLease()
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
  lease.watch()
  expect(lease.signal.aborted).toBe(false)
  vi.spyOn(Date, 'now').mockReturnValue(0)
  now += UPLOAD_TERMS.leaseMs
  lease.watch()
  expect(lease.signal.aborted).toBe(true)
})

it('reports a late renewal', () => {
  const lease = openLease()
  now += 2 * UPLOAD_TERMS.renewMs
  expect(lease.renewed(now)).toBe(false)
  now += 2 * UPLOAD_TERMS.renewMs + 1
  expect(lease.renewed(now)).toBe(true)
})

it('is not shortened by a late response to an older renewal', () => {
  const lease = openLease()
  now += UPLOAD_TERMS.leaseMs - UPLOAD_TERMS.marginMs - 1
  lease.renewed(now)
  now += 1000
  lease.renewed(1000)
  lease.watch()
  expect(lease.signal.aborted).toBe(false)
})

it('is released only once in this process, even if the database could not be updated', async () => {
  const released: string[] = []
  const lease = openLease({
    forget: () => void released.push('here'),
    async releaseRow() {
      released.push('row')
      throw new Error('the database is away')
    },
  })
  await expect(lease.release({ interrupted: false })).rejects.toThrow('away')
  await lease.release({ interrupted: false })
  lease.forget()
  expect(released).toEqual(['row', 'here'])
})
