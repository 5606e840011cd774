/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { type DrippingBucket, startDrippingBucket } from '../../test/support/dripping-bucket.ts'
import { starve } from '../../test/support/starving.ts'
import { fileIdOf } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import type { DatabaseHandle } from '../platform/db/database.ts'

const MiB = 1024 * 1024
const MEMORY_BYTES = 64 * MiB

let database: DatabaseHandle
let attacker: Site
let other: Site
let bucket: DrippingBucket
let node: Awaited<ReturnType<typeof serveUploads>>
beforeAll(async () => {
  database = await openTestDatabase()
  attacker = await createSite(database)
  other = await createSite(database)
  bucket = await startDrippingBucket()
  const { runtime } = other
  const config = { ...runtime.config, uploadMemoryBytes: MEMORY_BYTES }
  node = await serveUploads({ ...runtime, config })
})
afterAll(async () => {
  await bucket?.close()
  await node?.close()
  await attacker?.close()
  await other?.close()
  await database?.close()
})

it('a tenant whose buckets never finish their responses leaves memory for other tenants', async () => {
  let peakBytes = 0
  vi.spyOn(other.runtime.metrics.memoryUsed, 'set').mockImplementation((bytes) => {
    peakBytes = Math.max(peakBytes, Number(bytes))
  })
  const body = randomBytes(32 * MiB)
  const attack = await starve(node.url, attacker, bucket, body)
  // Waits until the tenant has all the memory it can get: two checks in a row see the same amount.
  let before = -1
  await vi.waitFor(
    () => {
      const { usedBytes } = node.context.budget
      const settled = usedBytes > 0 && usedBytes === before && bucket.dripping > 0
      before = usedBytes
      expect(settled).toBe(true)
    },
    { timeout: 20_000, interval: 500 },
  )
  const theirs = await other.client(node)
  const url = await theirs.begin(body.length)
  expect((await theirs.patch(url, 0, body)).status).toBe(204)
  expect((await other.bucket.object(`${fileIdOf(url)}/file`)).equals(body)).toBe(true)
  expect(peakBytes).toBeLessThanOrEqual(MEMORY_BYTES)
  attack.stop()
}, 60_000)
