import { expect, it } from 'vitest'
import { UPLOAD_TERMS } from '../upload-terms.ts'
import { createHeldLease } from './held-lease.ts'

it('is renewed when it is no longer young, and not once it is lost', () => {
  let now = 1000
  const { renewMs } = UPLOAD_TERMS
  const deps = {
    clock: { now: () => now },
    terms: UPLOAD_TERMS,
    forget: () => {},
    releaseRow: async () => {},
  }
  const lease = createHeldLease({ fileId: 'f', fence: 1 }, now, deps)
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

it('tells a renewal that came late', () => {
  let now = 1000
  const deps = {
    clock: { now: () => now },
    terms: UPLOAD_TERMS,
    forget: () => {},
    releaseRow: async () => {},
  }
  const lease = createHeldLease({ fileId: 'f', fence: 1 }, now, deps)
  now += 2 * UPLOAD_TERMS.renewMs
  expect(lease.renewed(now)).toBe(false)
  now += 2 * UPLOAD_TERMS.renewMs + 1
  expect(lease.renewed(now)).toBe(true)
})

it('is not set back by the answer to an older renewal that comes late', () => {
  let now = 1000
  const deps = {
    clock: { now: () => now },
    terms: UPLOAD_TERMS,
    forget: () => {},
    releaseRow: async () => {},
  }
  const lease = createHeldLease({ fileId: 'f', fence: 1 }, now, deps)
  now += UPLOAD_TERMS.leaseMs - UPLOAD_TERMS.marginMs - 1
  lease.renewed(now)
  now += 1000
  lease.renewed(1000)
  lease.watch()
  expect(lease.signal.aborted).toBe(false)
})

it('is released once, here even where the database did not hear of it', async () => {
  const released: string[] = []
  const deps = {
    clock: { now: () => 1000 },
    terms: UPLOAD_TERMS,
    forget: () => released.push('here'),
    async releaseRow() {
      released.push('row')
      throw new Error('the database is away')
    },
  }
  const lease = createHeldLease({ fileId: 'f', fence: 1 }, 1000, deps)
  await expect(lease.release({ interrupted: false })).rejects.toThrow('away')
  await lease.release({ interrupted: false })
  lease.forget()
  expect(released).toEqual(['row', 'here'])
})
