import { expect, it } from 'vitest'
import { createHeldLease } from './held-lease.ts'
import { UPLOAD_TERMS } from './upload-terms.ts'

it('is renewed when it is no longer young, and not once it is lost', () => {
  let now = 1000
  const { renewMs } = UPLOAD_TERMS
  const deps = { clock: { now: () => now }, terms: UPLOAD_TERMS, forget: () => {} }
  const lease = createHeldLease({ fileId: 'f', fence: 1 }, now, deps)
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
