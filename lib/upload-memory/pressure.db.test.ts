/** @module-tag long */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { type Random, randomOf } from '../../test/support/random.ts'
import { fileIdOf, openPatch, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import type { DatabaseHandle } from '../platform/db/database.ts'

const MiB = 1024 * 1024
const UPLOADS = 12
const AT_ONCE = 8
const MEMORY_BYTES = 24 * MiB

let database: DatabaseHandle
let site: Site
let node: Awaited<ReturnType<typeof serveUploads>>
let client: TusClient
beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  const { runtime } = site
  node = await serveUploads({ ...runtime, config: { ...runtime.config, uploadMemoryBytes: MEMORY_BYTES } })
  client = await site.client(node)
})
afterAll(async () => {
  await node?.close()
  await site?.close()
  await database?.close()
})

/** Sends one PATCH in chunks of random sizes. It may be interrupted. */
async function send(random: Random, url: string, { offset, body }: { offset: number; body: Buffer }) {
  const sum = `sha1 ${createHash('sha1').update(body).digest('base64')}`
  const headers: Record<string, string> = random.chance(0.6) ? { 'Upload-Checksum': sum } : {}
  const patch = openPatch(client, url, { offset, length: body.length, headers })
  const end = random.chance(0.15) ? random.whole(0, body.length - 1) : body.length
  for (let at = 0; at < end; ) {
    const to = Math.min(at + random.whole(1, random.chance(0.5) ? 2 * MiB : 50_000), end)
    await Promise.race([patch.write(body.subarray(at, to)), patch.reply])
    at = to
  }
  if (end < body.length) return patch.cut()
  expect((await patch.reply).status).toBe(204)
}

async function upload(random: Random): Promise<void> {
  const whole = random.bytes(random.whole(1, random.pick([1000, 2 * MiB, 12 * MiB, 20 * MiB])))
  const made = await client.create(whole.length)
  expect(made.status).toBe(201)
  const url = made.headers.location!
  for (;;) {
    const head = await client.head(url)
    // A request that is interrupted while waiting for memory may keep the lease for longer than a HEAD waits.
    if (head.status === 423) continue
    expect(head.status).toBe(200)
    const offset = Number(head.headers['upload-offset'])
    if (offset === whole.length) break
    const end = random.chance(0.3) ? whole.length : random.whole(offset + 1, whole.length)
    await send(random, url, { offset, body: whole.subarray(offset, end) })
  }
  await Promise.all(node.context.background)
  expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
}

it('all bytes of many uploads arrive even when memory is short, with or without checksums and interruptions', async () => {
  const seed = String(Date.now())
  const left = Array.from({ length: UPLOADS }, (_, n) => randomOf(`${seed}/${n}`))
  const work = async () => {
    for (let random = left.pop(); random; random = left.pop()) await upload(random)
  }
  let peakBytes = 0
  vi.spyOn(site.runtime.metrics.memoryUsed, 'set').mockImplementation((bytes) => {
    peakBytes = Math.max(peakBytes, Number(bytes))
  })
  const told = () => new Error(`With seed ${seed}: ${site.runtime.logLines.slice(-3).join('\n')}`)
  await Promise.all(Array.from({ length: AT_ONCE }, work)).catch((cause) => {
    throw Object.assign(told(), { cause })
  })
  expect(peakBytes).toBeGreaterThan(0)
  expect(peakBytes).toBeLessThanOrEqual(MEMORY_BYTES)
})
