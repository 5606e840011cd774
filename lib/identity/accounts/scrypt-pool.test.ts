import { scryptSync } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { type RequestContext, runRequest } from '../../platform/kernel/request-context.ts'
import { createScryptPool } from './scrypt-pool.ts'

const work = { password: 'a password', salt: Buffer.from('salt'), bytes: 32, cost: { N: 16, r: 1, p: 1 } }

it('derives the same keys as scrypt, one job at a time in each thread', async () => {
  const pool = createScryptPool({ threads: 2, waiting: 10, waitingForEach: 10 })
  const wanted = scryptSync(work.password, work.salt, work.bytes, work.cost)
  const hashes = await Promise.all(Array.from({ length: 8 }, () => pool.derive(work)))
  for (const hash of hashes) expect(hash).toEqual(wanted)
  await pool.close()
})

it('rejects jobs with a Retry-After header when its queue is full', async () => {
  const pool = createScryptPool({ threads: 1, waiting: 4, waitingForEach: 2 })
  const asked = await Promise.allSettled(Array.from({ length: 5 }, () => pool.derive(work)))
  expect(asked.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ])
  expect(asked[4]).toMatchObject({ reason: { code: 'unavailable', headers: { 'Retry-After': '2' } } })
  expect(await pool.derive(work)).toHaveLength(32)
  await pool.close()
})

it('hashes for someone who signs in before the second of many jobs of a workspace', async () => {
  const pool = createScryptPool({ threads: 1, waiting: 20, waitingForEach: 20 })
  const ended: string[] = []
  const derive = (who: string, notes: RequestContext['notes'], client?: string) =>
    runRequest({ id: who, traceparent: undefined, notes, ...(client && { client }) }, () =>
      pool.derive(work).then(() => ended.push(who)),
    )
  const busy = Array.from({ length: 10 }, () => derive('workspace', { workspaceId: 'w' }))
  await Promise.all([...busy, derive('person', {}, '192.0.2.1')])
  expect(ended.indexOf('person')).toBe(1)
  await pool.close()
})

it('fails a job that scrypt rejects, and continues with the next one', async () => {
  const pool = createScryptPool({ threads: 1, waiting: 4, waitingForEach: 2 })
  const wrong = pool.derive({ ...work, cost: { N: 3 } })
  const right = pool.derive(work)
  await expect(wrong).rejects.toThrow()
  expect(await right).toHaveLength(32)
  await pool.close()
})

it('does not block the libuv thread pool during many simultaneous sign-ins', async () => {
  const pool = createScryptPool({ threads: 2, waiting: 60, waitingForEach: 60 })
  const slow = { ...work, cost: { N: 2 ** 15, r: 8, p: 3, maxmem: 2 ** 26 } }
  let ended = 0
  for (let n = 0; n < 60; n++) void pool.derive(slow).then(() => ended++)
  await stat('.')
  expect(ended).toBeLessThan(5)
  await pool.close()
})
