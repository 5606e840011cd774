import { expect, it } from 'vitest'
import { fail } from './settle.ts'

it('leaves no lease to renew if the failure of the file cannot be recorded', async () => {
  let isHeld = true
  const lease = { rowId: 'a file', fence: 1, forget: () => (isHeld = false) }
  const db = { transaction: () => Promise.reject(new Error('the database is away')) }
  const context = { db, clock: { now: () => 0 } }
  const failing = fail(
    context as never,
    { fileId: lease.rowId, lease: lease as never },
    { reason: 'Denied.' },
  )
  await expect(failing).rejects.toThrow('away')
  expect(isHeld).toBe(false)
})
