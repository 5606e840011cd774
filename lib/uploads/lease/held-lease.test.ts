import { expect, it } from 'vitest'
import { UPLOAD_TERMS } from '../rules/upload-terms.ts'
import { HeldLease } from './held-lease.ts'

function leaseBy(now: () => number, ends = { forget() {}, async releaseRow() {} }) {
  return new HeldLease({ fileId: 'f', fence: 1, claim: 'c' }, now(), {
    clock: { now },
    terms: UPLOAD_TERMS,
    ...ends,
  })
}

it('is due for renewal at a certain age, unless it is lost', () => {
  const { renewMs } = UPLOAD_TERMS
  let now = 1000
  const lease = leaseBy(() => now)
  expect(lease.isDue()).toBe(false)
  now += renewMs
  expect(lease.isDue()).toBe(true)
  lease.renewed(now)
  expect(lease.isDue()).toBe(false)
  now -= 3_600_000
  expect(lease.isDue()).toBe(true)
  lease.renewed(now)
  now += renewMs
  expect(lease.isDue()).toBe(true)
  lease.lose()
  expect(lease.isDue()).toBe(false)
})

it('reports a late renewal', () => {
  let now = 1000
  const lease = leaseBy(() => now)
  now += 2 * UPLOAD_TERMS.renewMs
  expect(lease.renewed(now)).toBe(false)
  now += 2 * UPLOAD_TERMS.renewMs + 1
  expect(lease.renewed(now)).toBe(true)
})

it('is not shortened by a late response to an older renewal', () => {
  let now = 1000
  const lease = leaseBy(() => now)
  now += UPLOAD_TERMS.leaseMs - UPLOAD_TERMS.marginMs - 1
  lease.renewed(now)
  now += 1000
  lease.renewed(1000)
  lease.watch()
  expect(lease.signal.aborted).toBe(false)
})

it('is released only once in this process, even if the database could not be updated', async () => {
  const released: string[] = []
  const lease = leaseBy(() => 1000, {
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
