/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { httpCall } from '../../test/support/http-call.ts'
import { fileIdOf, openPatch, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { crc32ToBase64 } from '../platform/kernel/crc32.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'

const MiB = 1024 * 1024
const declaring = (file: Buffer) => ({ 'Repr-Digest': `crc32=:${crc32ToBase64(crc32(file))}:` })
const DRAFT = { 'Upload-Draft-Interop-Version': '8' }

describe('a file checksum declared by its client', () => {
  let database: DatabaseHandle
  let site: Site
  let nodes: Awaited<ReturnType<typeof serveUploads>>[]
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    nodes = [await serveUploads(site.runtime), await serveUploads(site.runtime)]
    client = await site.client(nodes[0]!)
  })
  afterAll(async () => {
    for (const node of nodes ?? []) await node.close()
    await site?.close()
    await database?.close()
  })

  const show = (url: string) => showFile(site.runtime, site.actor, fileIdOf(url))
  const hasObject = async (url: string) =>
    (await site.bucket.objects()).some((key) => key.startsWith(fileIdOf(url)))
  /** The same upload on the other node. */
  const elsewhere = (url: string) => url.replace(nodes[0]!.url, nodes[1]!.url)
  const flipped = (file: Buffer, at: number) => {
    const copy = Buffer.from(file)
    copy[at]! ^= 1
    return copy
  }
  async function expectFailed(url: string) {
    expect(await show(url)).toMatchObject({ status: 'failed', failureReason: 'checksum_mismatch' })
    expect(await hasObject(url)).toBe(false)
  }

  it.each([
    ['one part', 1000],
    ['several parts', 18 * MiB],
  ])('is compared at the end of a file of %s, across a resume on another node', async (_, bytes) => {
    const file = randomBytes(bytes)
    const half = bytes / 2
    const at = { creation: declaring(file), last: {} }
    for (const { creation, last } of [at, { creation: {}, last: declaring(file) }]) {
      const send = async (sent: Buffer) => {
        const url = await client.begin(bytes, creation)
        expect((await client.patch(url, 0, sent.subarray(0, half))).status).toBe(204)
        const reply = await client.patch(elsewhere(url), half, sent.subarray(half), last)
        return { url, status: reply.status, detail: reply.body }
      }
      const good = await send(file)
      expect(good.status).toBe(204)
      const { checksum, declaredChecksum } = await show(good.url)
      expect(declaredChecksum).toBe(checksum)
      for (const where of [half - 1, half]) {
        const { url, status, detail } = await send(flipped(file, where))
        expect(status).toBe(460)
        expect(JSON.parse(detail)).toMatchObject({ code: 'checksum_mismatch' })
        await expectFailed(url)
      }
    }
  })

  it('is accepted in a Resumable Uploads request and in a plain request', async () => {
    const file = randomBytes(5000)
    for (const headers of [{}, { ...DRAFT, 'Upload-Complete': '?1' }]) {
      const put = (body: Buffer) =>
        httpCall({
          method: 'PUT',
          url: `${client.collection}a`,
          token: client.token,
          body,
          headers: { ...headers, ...declaring(file) },
        })
      expect((await put(file)).status).toBeLessThan(300)
      expect(JSON.parse((await put(flipped(file, 7))).body)).toMatchObject({ code: 'checksum_mismatch' })
    }
  })

  it('detects a changed byte in any chunk, whichever node received the chunk', async () => {
    const file = randomBytes(4000)
    for (const chunk of [0, 1, 2, 3]) {
      const url = await client.begin(4000)
      const send = (at: number, headers = {}) =>
        client.patch(
          at % 2000 === 0 ? url : elsewhere(url),
          at,
          flipped(file, chunk * 1000 + 500).subarray(at, at + 1000),
          headers,
        )
      for (const at of [0, 1000, 2000]) expect((await send(at)).status).toBe(204)
      expect((await send(3000, declaring(file))).status).toBe(460)
      await expectFailed(url)
    }
  })

  it('is compared by a request that waited for the request declaring it', async () => {
    const file = randomBytes(4000)
    const url = await client.begin(4000)
    const first = openPatch(client, url, { offset: 0, length: 4000, headers: declaring(file) })
    const leased = sql`select from files where id = ${fileIdOf(url)}::uuid and lease_until is not null`
    await vi.waitFor(async () => expect(await rows(database.db, leased)).toHaveLength(1))
    const last = await client.patch(elsewhere(url), 0, flipped(file, 3000))
    first.cut()
    expect(JSON.parse(last.body)).toMatchObject({ code: 'checksum_mismatch' })
    await expectFailed(url)
  })

  it('cannot be changed, and must be valid', async () => {
    const file = randomBytes(100)
    const url = await client.begin(100, declaring(file))
    const other = await client.patch(url, 0, file, declaring(flipped(file, 0)))
    expect([other.status, JSON.parse(other.body).code]).toEqual([400, 'invalid_header'])
    const odd = await client.create(100, { 'Repr-Digest': 'crc32=:AAAA:' })
    expect([odd.status, JSON.parse(odd.body).code]).toEqual([400, 'invalid_header'])
  })

  it('is compared after a crash if the length was declared after the bytes', async () => {
    const file = randomBytes(3000)
    const url = await client.begin(null, declaring(file))
    await client.patch(url, 0, flipped(file, 5))
    await database.db.execute(sql`update files set length_bytes = 3000 where id = ${fileIdOf(url)}::uuid`)
    await reconcileUploads(nodes[0]!.context)
    await expectFailed(url)
  })
})
