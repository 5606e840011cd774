import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openTestDatabase } from '../../e2e/parts/databases.ts'
import { type DrippingBucket, startDrippingBucket } from '../../e2e/parts/dripping-bucket.ts'
import { makeReady } from '../../e2e/parts/make-ready.ts'
import { openPatch, tusClient } from '../../e2e/parts/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../e2e/parts/upload-site.ts'
import { createDataStore } from '../data-stores/create-data-store.ts'
import type { DatabaseHandle } from '../db/database.ts'
import { parseInput } from '../kernel/parse-input.ts'
import { createPipe } from '../pipes/create-pipe.ts'
import { pipeInput } from '../pipes/pipe.ts'

const MiB = 1024 * 1024
const MEMORY_BYTES = 64 * MiB
const STORES = 12
const UPLOADS = 40

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

/** A Pipe of the attacker, to a Data Store of its own whose answers never end. */
async function openPipe(n: number) {
  const { runtime, actor } = attacker
  const dataStore = await createDataStore(runtime, actor, {
    ...{ name: `Bucket ${n}`, provider: 'minio', endpoint: bucket.endpoint, region: 'eu-west-1' },
    ...{ bucket: `media-${n}`, forcePathStyle: true, accessKeyId: 'A', secretAccessKey: 'secret' },
  })
  await makeReady(runtime.db, dataStore)
  const fields = { name: `Pipe ${n}`, dataStoreId: dataStore.id, source: { http: true } }
  const pipe = await createPipe(runtime, actor, parseInput(pipeInput, fields))
  return tusClient({ url: node.url, pipeId: pipe.id, token: await attacker.token({ pipeId: pipe.id }) })
}

it('a tenant whose buckets never end their answers leaves the others their memory', async () => {
  let peakBytes = 0
  vi.spyOn(other.runtime.metrics.memoryUsed, 'set').mockImplementation((bytes) => {
    peakBytes = Math.max(peakBytes, Number(bytes))
  })
  const clients = await Promise.all(Array.from({ length: STORES }, (_, n) => openPipe(n)))
  const body = randomBytes(32 * MiB)
  const attacks = await Promise.all(
    Array.from({ length: UPLOADS }, async (_, n) => {
      const client = clients[n % STORES]!
      const { headers } = await client.create(body.length)
      const patch = openPatch(client, headers.location!, { offset: 0, length: body.length })
      void patch.write(body)
      return patch
    }),
  )
  // Until it holds what it can get: nothing of it has moved between two looks.
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
  const theirs = tusClient({ url: node.url, pipeId: other.pipe.id, token: await other.token() })
  const url = (await theirs.create(body.length)).headers.location!
  expect((await theirs.patch(url, 0, body)).status).toBe(204)
  expect((await other.bucket.object(`${url.split('/').at(-1)!}/file`)).equals(body)).toBe(true)
  expect(peakBytes).toBeLessThanOrEqual(MEMORY_BYTES)
  for (const patch of attacks) patch.cut()
}, 60_000)
