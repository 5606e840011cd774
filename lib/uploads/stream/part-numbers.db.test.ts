import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { openHoldingProxy } from '../../../test/support/http-proxies.ts'
import { fileIdOf, openPatch, type TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../../platform/db/database.ts'
import { releaseLease } from '../ledger/lease-rows.ts'
import { advance } from '../ledger/offsets.ts'
import { openUpload } from '../opening/open-upload.ts'

/**
 * Like AWS, the local bucket rejects gaps in part numbers. Whatever happens to an upload, its parts run from 1
 * without a gap, and a part that arrives late does not damage its object.
 */
const MiB = 1024 * 1024
const whole = randomBytes(30 * MiB)
const sha1 = (bytes: Buffer) => `sha1 ${createHash('sha1').update(bytes).digest('base64')}`

describe('part numbers have no gap and a late part does no damage', () => {
  let database: DatabaseHandle
  let site: Site
  let proxy: Awaited<ReturnType<typeof openHoldingProxy>>
  let node: Awaited<ReturnType<typeof serveUploads>>
  let other: typeof node
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    proxy = await openHoldingProxy(site.bucket.port)
    await database.db.execute(sql`update data_stores set endpoint = ${proxy.url}, updated_at = now()`)
    node = await serveUploads(site.runtime)
    other = await serveUploads(site.runtime)
    client = await site.client(node)
  })
  afterEach(async () => {
    site.bucket.faults.clear()
    await proxy.deliver()
  })
  afterAll(async () => {
    await node?.close()
    await other?.close()
    await proxy?.close()
    await site?.close()
    await database?.close()
  })

  const begin = () => client.begin(whole.length)
  const elsewhere = (url: string) => other.url + new URL(url).pathname
  const finish = async (url: string) => {
    const offset = await client.offset(url)
    expect((await client.patch(url, offset, whole.subarray(offset))).status).toBe(204)
    const look = sql`select status, failure_reason as reason from files where id = ${fileIdOf(url)}::uuid`
    await expect
      .poll(async () => (await rows(database.db, look))[0])
      .toEqual({ status: 'transferred', reason: null })
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
    expect(await site.bucket.unfinished()).toEqual([])
  }
  /** Takes the lease as the next writer would: from here on, the previous writer is fenced off. */
  const takeOver = (url: string) =>
    database.db.execute(sql`update files set lease_until = now() - interval '1 second', lease_fence = lease_fence + 1,
      lease_holder = 'the next one' where id = ${fileIdOf(url)}::uuid and lease_until is not null`)

  it.each([
    ['in entire parts', 30 * MiB],
    ['in chunks of a different size', 6 * MiB],
  ])(
    'when a node is presumed dead in the middle, and another node continues %s',
    { tags: 'long' },
    async (_, chunkBytes) => {
      const url = await begin()
      const caught = proxy.holdParts((number) => number === 2)
      const dying = client.patch(url, 0, whole.subarray(0, 25 * MiB)).catch(() => {})
      await caught
      const recorded = sql`select recorded_parts as parts from files where id = ${fileIdOf(url)}::uuid`
      await expect.poll(async () => (await rows(database.db, recorded))[0]).toEqual({ parts: 1 })
      await takeOver(url)
      const there = elsewhere(url)
      const next = await client.head(there)
      expect(next.headers['upload-offset']).toBe(String(8 * MiB))
      proxy.holdParts(() => false)
      let offset = 8 * MiB
      for (; offset < 26 * MiB; offset += chunkBytes) {
        const chunk = whole.subarray(offset, Math.min(offset + chunkBytes, 26 * MiB))
        expect((await client.patch(there, offset, chunk)).status).toBe(204)
      }
      expect(await proxy.deliver()).toEqual(expect.arrayContaining([200]))
      await finish(url)
      await dying
    },
  )

  it("when a body's checksum does not match", async () => {
    const url = await begin()
    const wrong = Buffer.from(whole).fill(0, 9 * MiB, 10 * MiB)
    const reply = await client.patch(url, 0, wrong, { 'Upload-Checksum': sha1(whole) })
    expect(reply.status).toBe(460)
    expect(await client.offset(url)).toBe(0)
    await finish(url)
  })

  it('when a body with a checksum is interrupted', { tags: 'long' }, async () => {
    const url = await begin()
    const headers = { 'Upload-Checksum': sha1(whole) }
    const patch = openPatch(client, url, { offset: 0, length: whole.length, headers })
    await patch.write(whole.subarray(0, 20 * MiB))
    await site.bucket.traffic.until({ operation: 'UploadPart', key: `${fileIdOf(url)}/file` })
    patch.cut()
    expect(await client.offset(url)).toBe(0)
    await finish(url)
  })

  it('when a part fails while later parts arrive', async () => {
    const url = await begin()
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    site.bucket.faults.add({ operation: 'UploadPart', partNumber: 2, times: 1, effect })
    expect((await client.patch(url, 0, whole)).status).toBe(502)
    await finish(url)
  })

  it.each(['preempted', 'drained'])(
    'when a writer was %s and closed a part early',
    { tags: 'long' },
    async (how) => {
      const url = await begin()
      const writer = how === 'drained' ? await serveUploads(site.runtime) : node
      const address = writer.url + new URL(url).pathname
      const patch = openPatch(client, address, { offset: 0, length: whole.length })
      await patch.write(whole.subarray(0, 14 * MiB))
      await site.bucket.traffic.until({ operation: 'UploadPart', key: `${fileIdOf(url)}/file` })
      if (how === 'drained') await writer.close()
      expect(await client.offset(url)).toBe(14 * MiB)
      patch.cut()
      expect(
        site.bucket.traffic.seen({ operation: 'UploadPart', key: `${fileIdOf(url)}/file` }),
      ).toHaveLength(2)
      await finish(url)
    },
  )

  it.each(['preempted', 'drained'])(
    'when the writer of a body with a checksum was %s',
    { tags: 'long' },
    async (how) => {
      const url = await begin()
      const writer = await serveUploads(site.runtime, { terms: { atomicTurnMs: 1, atomicQuietMs: 1 } })
      const headers = { 'Upload-Checksum': sha1(whole) }
      const address = writer.url + new URL(url).pathname
      const patch = openPatch(client, address, { offset: 0, length: whole.length, headers })
      await patch.write(whole.subarray(0, 20 * MiB))
      await site.bucket.traffic.until({
        operation: 'UploadPart',
        key: `${fileIdOf(url)}/file`,
        state: 'answered',
      })
      if (how === 'drained') await writer.close()
      expect(await client.offset(url)).toBe(0)
      patch.cut()
      if (how === 'preempted') await writer.close()
      await finish(url)
    },
  )

  it('when a node is drained while the bucket refuses a part', { tags: 'long' }, async () => {
    const url = await begin()
    const writer = await serveUploads(site.runtime)
    const key = `${fileIdOf(url)}/file`
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    site.bucket.faults.add({ operation: 'UploadPart', key, partNumber: 2, times: 100, effect })
    const address = writer.url + new URL(url).pathname
    const patch = openPatch(client, address, { offset: 0, length: whole.length })
    await patch.write(whole.subarray(0, 25 * MiB))
    await site.bucket.traffic.until({ operation: 'UploadPart', key }, 2)
    await writer.close()
    patch.cut()
    site.bucket.faults.clear()
    await finish(url)
  })

  it("when the database's response to recording a part is lost", async () => {
    const url = await begin()
    const { db, leases } = node.context
    const { lease } = (await leases.take({ rowId: fileIdOf(url), tokenId: null, plan: undefined }))!
    const part = { number: 1, offsetBytes: 0, sizeBytes: 6 * MiB, etags: ['"1"'], crc32: 0 }
    const bound = { recordedParts: 1, recordedBytes: 6 * MiB, boundEnds: [14 * MiB] }
    await advance(db, lease, { fromBytes: 0, toBytes: 6 * MiB, crc32: 0, part, bound }, site.clock.now())
    const believed = { recordedParts: 0, recordedBytes: 0, boundEnds: [6 * MiB, 14 * MiB] }
    await releaseLease({ db, clock: site.clock }, lease, { bound: believed, interrupted: true })
    lease.forget()
    const look = sql`select recorded_parts as "recordedParts", recorded_bytes as "recordedBytes", to_jsonb(bound_ends) as "boundEnds" from files where id = ${fileIdOf(url)}::uuid`
    expect(await rows(database.db, look)).toEqual([bound])
    await client.terminate(url)
  })

  it('when a writer sends its first part while the next one waits for the lease', async () => {
    const url = await begin()
    const { context } = node
    const file = sql`id = ${fileIdOf(url)}::uuid`
    await context.leases.take({ rowId: fileIdOf(url), tokenId: null, plan: undefined })
    await database.db.execute(sql`update files set bound_ends = array[${8 * MiB}::bigint] where ${file}`)
    const at = { pipeId: site.pipe.id, fileId: fileIdOf(url) }
    const right = await context.rights.toContinue(client.token, at)
    await database.db.execute(
      sql`update file_destinations set multipart_id = 'sent' where file_id = ${at.fileId}::uuid`,
    )
    await database.db.execute(sql`update files set lease_until = now() - interval '1 second' where ${file}`)
    const upload = (await openUpload(context, right, { bytes: 6 * MiB }))!
    expect(upload.numbers.targetOffset).toBe(8 * MiB)
    expect(upload.numbers.mayEndAt(6 * MiB)).toBe(false)
    upload.lease.forget()
    await client.terminate(url)
  })
})
