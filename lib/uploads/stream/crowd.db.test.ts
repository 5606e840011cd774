/** @module-tag long */
import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, openPatch, type TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../../platform/db/database.ts'
import { FIRST_PAGE_BYTES } from '../../upload-memory/page-pool.ts'

const MiB = 1024 * 1024
const CROWD = 5
/** Too few bytes for a separate part. */
const CHUNK_BYTES = 4.5 * MiB
const MEMORY_BYTES = 24 * MiB
const sha1 = (bytes: Buffer) => ({
  'Upload-Checksum': `sha1 ${createHash('sha1').update(bytes).digest('base64')}`,
})

describe('many uploads that need more memory than is available', () => {
  let database: DatabaseHandle
  let site: Site
  let other: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  const whole = randomBytes(12 * MiB)
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    other = await createSite(database)
    const { runtime } = site
    node = await serveUploads({ ...runtime, config: { ...runtime.config, uploadMemoryBytes: MEMORY_BYTES } })
    client = await site.client(node)
  })
  afterEach(() => site.bucket.faults.clear())
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await other?.close()
    await database?.close()
  })
  const begin = (length = whole.length) => client.begin(length)
  const tailsOf = async (url: string) => {
    const count = sql`select count(*)::int as count from upload_tails where file_id = ${fileIdOf(url)}::uuid`
    return (await rows<{ count: number }>(database.db, count))[0]!.count
  }
  const arrives = async (url: string) => {
    await Promise.all(node.context.background)
    const key = `${fileIdOf(url)}/file`
    expect(await site.bucket.objects(), site.runtime.logLines.join('\n')).toContain(key)
    expect((await site.bucket.object(key)).equals(whole)).toBe(true)
    expect(await tailsOf(url)).toBe(0)
  }
  /** Sends the first chunk of several uploads, except for its end, so slowly that the bytes may be spilled. */
  const crowd = async (
    headers: (chunk: Buffer) => Record<string, string>,
    chunk = whole.subarray(0, CHUNK_BYTES),
  ) => {
    const urls = await Promise.all(Array.from({ length: CROWD }, () => begin()))
    const patches = urls.map((url) =>
      openPatch(client, url, { offset: 0, length: chunk.length, headers: headers(chunk) }),
    )
    for (const patch of patches) void patch.write(chunk.subarray(0, 1000))
    await expect.poll(() => node.context.budget.usedBytes).toBe(CROWD * FIRST_PAGE_BYTES)
    site.clock.advance(5000)
    await Promise.all(patches.map((patch) => patch.write(chunk.subarray(1000, -1))))
    return { urls, patches, end: () => patches.map((patch) => patch.write(chunk.subarray(-1))) }
  }

  it('make progress even if each body has a checksum and none of them is complete', async () => {
    const { urls, patches, end } = await crowd(sha1)
    // The clients have sent more bytes than a single bucket's uploads may keep in memory. A chunk that arrives all at
    // once is stored as two tails.
    const tails = async () => Math.max(...(await Promise.all(urls.map(tailsOf))))
    await vi.waitFor(async () => expect(await tails()).toBeGreaterThan(0), 20_000)
    expect(node.context.budget.usedBytes).toBeLessThanOrEqual(MEMORY_BYTES)
    end()
    for (const { reply } of patches) expect((await reply).status).toBe(204)
    for (const url of urls) {
      const rest = whole.subarray(CHUNK_BYTES)
      expect((await client.patch(url, CHUNK_BYTES, rest, sha1(rest))).status).toBe(204)
      await arrives(url)
    }
  })

  it('keep no bytes of bodies that have a wrong checksum or are interrupted', async () => {
    const { urls, patches, end } = await crowd(() => sha1(Buffer.from('another')))
    patches[0]!.cut()
    end()
    for (const { reply } of patches.slice(1)) expect((await reply).status).toBe(460)
    for (const url of urls) {
      expect(await client.offset(url)).toBe(0)
      expect((await client.patch(url, 0, whole)).status).toBe(204)
      await arrives(url)
    }
  })

  it('leave memory for another customer even if their own bucket does not respond', async () => {
    const effect = { kind: 'hold', gate: 'creation' } as const
    site.bucket.faults.add({ operation: 'CreateMultipartUpload', times: 100, effect })
    const urls = await Promise.all(Array.from({ length: CROWD }, () => begin(100 * MiB)))
    const hanging = urls.map((url) => openPatch(client, url, { offset: 0, length: 100 * MiB }))
    for (const patch of hanging) void patch.write(whole)
    await site.bucket.traffic.until({ operation: 'CreateMultipartUpload' })
    const theirs = await other.client(node)
    const url = await theirs.begin(3 * whole.length)
    for (const at of [0, 1, 2]) expect((await theirs.patch(url, at * whole.length, whole)).status).toBe(204)
    for (const patch of hanging) patch.cut()
  })
})
