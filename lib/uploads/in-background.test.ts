import { expect, it } from 'vitest'
import { createLogger } from '../platform/log/log.ts'
import { inBackground } from './in-background.ts'
import { fail } from './look-up-object.ts'

it('waits for work that continues, and reports its failure', async () => {
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => void lines.push(line) })
  const background = new Set<Promise<unknown>>()
  inBackground({ background, log }, Promise.reject(new Error('the database is away')))
  expect(background.size).toBe(1)
  // A rejection that nobody handles would fail the run.
  await Promise.all(background)
  expect(background.size).toBe(0)
  expect(lines.join()).toContain('the database is away')
})

it('a file that could not be failed leaves no lease to renew', async () => {
  let isHeld = true
  const lease = { fileId: 'a file', fence: 1, forget: () => (isHeld = false) }
  const db = { transaction: () => Promise.reject(new Error('the database is away')) }
  const context = { db, clock: { now: () => 0 } }
  const failing = fail(
    context as never,
    { fileId: lease.fileId, lease: lease as never },
    { reason: 'Denied.' },
  )
  await expect(failing).rejects.toThrow('away')
  expect(isHeld).toBe(false)
})
