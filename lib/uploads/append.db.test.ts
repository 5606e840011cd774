import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { describeWithDatabase, openTestDatabase } from '../../test/support/databases.ts'
import { elapse } from '../../test/support/elapse.ts'
import { fileIdOf, openPatch, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { takeLease } from './ledger/lease-rows.ts'
import { newClaim } from './ledger/lease-terms.ts'
import { tailBytes } from './ledger/tail-rows.ts'

const MiB = 1024 * 1024
type Node = Awaited<ReturnType<typeof serveUploads>>

const on = (node: Node, url: string) => node.url + new URL(url).pathname

/** Waits until a request is writing to the upload. */
async function leased(database: DatabaseHandle, url: string): Promise<void> {
  const look = sql`select 1 from files where id = ${fileIdOf(url)}::uuid and lease_until is not null`
  while ((await rows(database.db, look)).length === 0);
}

describeWithDatabase('bytes that arrived before an interruption', (database) => {
  let site: Site
  let node: Node
  let client: TusClient
  beforeAll(async () => {
    site = await createSite(database())
    // In these tests, only an interruption ends a writer, not a timeout.
    const patient = { turnMs: 60_000, quietMs: 60_000, waitMs: 60_000 }
    node = await serveUploads(site.runtime, { terms: patient })
    client = await site.client(node)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  it.each([1, 70_000, 300_000, 5 * MiB - 1, 5 * MiB, 8 * MiB, 20 * MiB + 3])(
    'are all kept, for a request of %i bytes',
    { tags: 'long' },
    async (sentBytes) => {
      const whole = randomBytes(21 * MiB)
      const url = await client.begin(whole.length)
      const patch = openPatch(client, url, { offset: 0, length: whole.length })
      await patch.write(whole.subarray(0, sentBytes))
      patch.cut()
      expect(await client.offset(url)).toBe(sentBytes)
      expect((await client.patch(url, sentBytes, whole.subarray(sentBytes))).status).toBe(204)
      expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
      expect(await site.bucket.unfinished()).toEqual([])
      const left = sql`select (select count(*)::int from upload_tails where file_id = ${fileIdOf(url)}::uuid) as tails,
      (select count(*)::int from file_parts where file_id = ${fileIdOf(url)}::uuid) as parts`
      expect(await rows(database().db, left)).toEqual([{ tails: 0, parts: 0 }])
    },
  )

  it('are stored in small rows, to save memory, unless a client is waiting, in which case they are stored in one row', async () => {
    const whole = randomBytes(300_000)
    const rowsOf = async (url: string) => {
      const look = sql`select ${tailBytes} as bytes from upload_tails where file_id = ${fileIdOf(url)}::uuid
        order by offset_bytes`
      return (await rows<{ bytes: number }>(database().db, look)).map(({ bytes }) => bytes)
    }
    const cut = await client.begin(10 * MiB)
    const patch = openPatch(client, cut, { offset: 0, length: 10 * MiB })
    await patch.write(whole)
    patch.cut()
    expect(await client.offset(cut)).toBe(whole.length)
    expect(await rowsOf(cut)).toEqual([92_160, 92_160, 92_160, 23_520])
    const ended = await client.begin(10 * MiB)
    expect((await client.patch(ended, 0, whole)).status).toBe(204)
    expect(await rowsOf(ended)).toEqual([whole.length])
  })
})

describe('several writers', () => {
  let database: DatabaseHandle
  let site: Site
  let first: Node
  let second: Node
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    first = await serveUploads(site.runtime)
    second = await serveUploads(site.runtime)
    client = await site.client(first)
  })
  afterAll(async () => {
    await first?.close()
    await second?.close()
    await site?.close()
    await database?.close()
  })

  it.each([
    ['the same node', () => first],
    ['another node', () => second],
  ])('a HEAD on %s stops a silent writer and returns the offset', async (_, other) => {
    const whole = randomBytes(3 * MiB)
    const url = await client.begin(whole.length)
    const patch = openPatch(client, url, { offset: 0, length: whole.length })
    await patch.write(whole.subarray(0, MiB))
    await leased(database, url)
    expect(await client.offset(on(other(), url))).toBe(MiB)
    const stopped = await patch.reply
    expect(stopped).toMatchObject({ status: 423, headers: { 'upload-offset': String(MiB) } })
    expect((await client.patch(on(other(), url), MiB, whole.subarray(MiB))).status).toBe(204)
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  })

  it('a PATCH below the confirmed offset gets 409 and does not disturb the writer', async () => {
    const whole = randomBytes(12 * MiB)
    const url = await client.begin(whole.length)
    const patch = openPatch(client, url, { offset: 0, length: whole.length })
    await patch.write(whole.subarray(0, 10 * MiB))
    const look = sql`select offset_bytes::int as at from files where id = ${fileIdOf(url)}::uuid`
    await expect.poll(async () => (await rows<{ at: number }>(database.db, look))[0]!.at).toBeGreaterThan(0)
    expect((await client.patch(on(second, url), 0, whole)).status).toBe(409)
    await patch.write(whole.subarray(10 * MiB))
    expect((await patch.reply).status).toBe(204)
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  })

  it('a PATCH waits until the lease of a writer that died has expired', async () => {
    const node = await serveUploads(site.runtime, { terms: { waitMs: 0 } })
    const url = await client.begin(10)
    await takeLease({ db: database.db, clock: site.clock }, newClaim(1000), {
      rowId: fileIdOf(url),
      tokenId: null,
      plan: undefined,
    })
    expect((await client.patch(on(node, url), 0, randomBytes(10))).status).toBe(204)
    await node.close()
  })

  it('if two nodes get a PATCH request at the same time, one writes and the other returns the offset', async () => {
    const whole = randomBytes(2 * MiB)
    const url = await client.begin(whole.length)
    const replies = await Promise.all([client.patch(url, 0, whole), client.patch(on(second, url), 0, whole)])
    expect(replies.map(({ status }) => status).sort()).toContain(204)
    for (const { status } of replies) expect([204, 409, 413, 423]).toContain(status)
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
    expect(await site.statusOf(url)).toBe('transferred')
  })

  it('chunks that are sent to alternating nodes form one object', async () => {
    const whole = randomBytes(12 * MiB)
    const url = await client.begin(whole.length)
    for (let at = 0, turn = 0; at < whole.length; at += MiB, turn++) {
      const here = on(turn % 2 === 0 ? first : second, url)
      expect(await client.offset(here)).toBe(at)
      expect((await client.patch(here, at, whole.subarray(at, at + MiB))).status).toBe(204)
    }
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  })

  it('a DELETE stops a writer', async () => {
    const url = await client.begin(3 * MiB)
    const patch = openPatch(client, url, { offset: 0, length: 3 * MiB })
    await patch.write(randomBytes(MiB))
    expect((await client.terminate(on(second, url))).status).toBe(204)
    await patch.write(randomBytes(2 * MiB))
    expect((await patch.reply).status).toBe(410)
  })

  it('a stopping node records the bytes it received, and the client continues on the other node', async () => {
    const stopping = await serveUploads(site.runtime)
    const whole = randomBytes(9 * MiB)
    const url = await client.begin(whole.length)
    const patch = openPatch(client, on(stopping, url), { offset: 0, length: whole.length })
    await patch.write(whole.subarray(0, 8 * MiB + 77))
    await site.bucket.traffic.until({ operation: 'UploadPart', key: `${fileIdOf(url)}/file` })
    await stopping.close()
    const offset = await client.offset(url)
    expect(offset).toBe(8 * MiB + 77)
    expect((await client.patch(url, offset, whole.subarray(offset))).status).toBe(204)
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  })

  const notesOf = (url: string) =>
    rows(
      database.db,
      sql`select t.detail->'toBytes' as "toBytes", t.detail->>'ended' as ended from file_timeline t
        where t.file_id = ${fileIdOf(url)}::uuid and t.kind = 'request'`,
    )

  it('a request that ends on a part boundary records the part and releases the lease in one statement', async () => {
    const url = await client.begin(17 * MiB)
    expect((await client.patch(url, 0, randomBytes(16 * MiB))).status).toBe(204)
    const look = sql`select f.lease_until is null as free, f.recorded_parts as recorded,
        to_jsonb(f.bound_ends) as bound, f.xmin = p.xmin as together
      from files f join file_parts p on p.file_id = f.id and p.number = 2 where f.id = ${fileIdOf(url)}::uuid`
    expect(await rows(database.db, look)).toEqual([{ free: true, recorded: 2, bound: [], together: true }])
    expect(await notesOf(url)).toEqual([{ toBytes: 16 * MiB, ended: 'end' }])
  })

  it('a request interrupted after its last part was recorded still appears in the timeline', async () => {
    const url = await client.begin(17 * MiB)
    const patch = openPatch(client, url, { offset: 0, length: 17 * MiB })
    await patch.write(randomBytes(16 * MiB))
    const recorded = async () =>
      rows(database.db, sql`select from file_parts where file_id = ${fileIdOf(url)}::uuid and number = 2`)
    await expect.poll(recorded).toHaveLength(1)
    patch.cut()
    expect(await client.offset(url)).toBe(16 * MiB)
    expect(await notesOf(url)).toEqual([{ toBytes: 16 * MiB, ended: 'cut' }])
  })

  it('a lost lease is not renewed, so that the next writer can take it', async () => {
    const node = await serveUploads(site.runtime, { terms: { renewMs: 50 } })
    const take = async () => {
      const fileId = fileIdOf(await client.begin(MiB))
      const { lease } = (await node.context.leases.take({ rowId: fileId, tokenId: null, plan: undefined }))!
      const look = sql`select lease_until::text as until from files where id = ${fileId}::uuid`
      return { lease, until: async () => (await rows<{ until: string }>(database.db, look))[0]!.until }
    }
    const lost = await take()
    elapse(60_000)
    expect(() => lost.lease.assertHeld()).toThrow()
    const held = await take()
    const before = { lost: await lost.until(), held: await held.until() }
    await vi.waitFor(async () => expect(await held.until()).not.toBe(before.held), { timeout: 20_000 })
    expect(await lost.until()).toBe(before.lost)
    lost.lease.forget()
    held.lease.forget()
    await node.close()
  })

  it('a node can still stop after a writer has lost its lease', async () => {
    const node = await serveUploads(site.runtime, { terms: { renewMs: 600_000 } })
    const url = await client.begin(MiB)
    const patch = openPatch(client, on(node, url), { offset: 0, length: MiB })
    await patch.write(randomBytes(1000))
    await leased(database, url)
    elapse(60_000)
    expect((await patch.reply).status).toBe(423)
    await node.close()
  })
})
