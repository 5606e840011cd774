import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { Upload } from 'tus-js-client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { blocked, openTestDatabase } from '../../test/support/databases.ts'
import { fileIdOf, metadata, type TusClient, tusCall, tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { days, hours, minutes } from '../platform/kernel/clock.ts'
import { clearLeftovers } from '../recovery/clear-leftovers.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { expireUploads } from '../recovery/upload-sweeps.ts'

const MiB = 1024 * 1024
let database: DatabaseHandle
let site: Site
let node: Awaited<ReturnType<typeof serveUploads>>
let client: TusClient
let token: string

const grant = (may: boolean) =>
  database.db.execute(
    sql`update data_stores set may_read = ${may}, may_delete = ${may}, updated_at = now() where id = ${site.dataStore.id}::uuid`,
  )
const renew = async (limits = {}) => {
  token = await site.token(limits)
  client = tusClient({ url: node.url, pipeId: site.pipe.id, token })
}

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database, {
    bucket: { actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'] },
  })
  await grant(true)
  node = await serveUploads(site.runtime)
  await renew()
})
afterEach(() => site.bucket.faults.clear())
afterAll(async () => {
  await node?.close()
  await site?.close()
  await database?.close()
})

async function partial(bytes: Buffer): Promise<string> {
  const url = await client.begin(bytes.length, { 'Upload-Concat': 'partial' })
  expect((await client.patch(url, 0, bytes)).status).toBe(204)
  return url
}

const join = (urls: string[], headers: Record<string, string> = {}) =>
  tusCall({
    method: 'POST',
    url: client.collection,
    token,
    headers: {
      'Upload-Concat': `final;${urls.join(' ')}`,
      'Upload-Metadata': metadata({ filename: 'whole' }),
      ...headers,
    },
  })

/** Deletes what joined and deleted uploads have left in the bucket, once no late request can arrive. */
const clear = async () => {
  site.clock.advance(minutes(1))
  while ((await clearLeftovers(node.context)) > 0);
}
const keysOf = async (urls: string[]) =>
  (await site.bucket.objects()).filter((name) => urls.some((url) => name.startsWith(fileIdOf(url))))

const usedBytes = async () => {
  const look = sql`select coalesce(sum(used_bytes), 0)::bigint as used from usage_months where workspace_id = ${site.workspaceId}::uuid`
  return (await rows<{ used: number }>(database.db, look))[0]!.used
}

describe('concatenation', () => {
  it('is advertised if the credentials allow reading and deleting', async () => {
    const options = () => tusCall({ method: 'OPTIONS', url: client.collection })
    expect((await options()).headers['tus-extension']).toContain('concatenation')
    await grant(false)
    expect((await options()).headers['tus-extension']).not.toContain('concatenation')
    const reply = await client.create(5, { 'Upload-Concat': 'partial' })
    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.body).detail).toContain('do not allow reading and deleting')
    await grant(true)
  })

  it.each([
    ['large pieces, copied', [6 * MiB, 9 * MiB + 1, 5 * MiB]],
    ['small pieces, read and sent again', [1000, 2 * MiB, 3, 12 * MiB, MiB]],
    ['a piece without bytes', [0, 6 * MiB]],
    ['only small pieces', [10, 20, 30]],
  ])('joins %s, and leaves only the object', async (_, sizes) => {
    const pieces = sizes.map((size) => randomBytes(size))
    const before = await usedBytes()
    const urls = await Promise.all(pieces.map(partial))
    const made = await join(urls)
    expect(made.status).toBe(201)
    const whole = Buffer.concat(pieces)
    const key = `${fileIdOf(made.headers.location!)}/whole`
    expect((await site.bucket.object(key)).equals(whole)).toBe(true)
    await clear()
    expect(await keysOf(urls)).toEqual([])
    expect(await site.bucket.unfinished()).toEqual([])
    expect((await usedBytes()) - before).toBe(whole.length)
    const head = await client.head(made.headers.location!)
    expect(head.headers).toMatchObject({
      'upload-offset': String(whole.length),
      'upload-length': String(whole.length),
    })
    expect(head.headers['upload-concat']).toBe(`final;${urls.join(' ')}`)
    const patch = await client.patch(made.headers.location!, whole.length, Buffer.alloc(0))
    expect(JSON.parse(patch.body).code).toBe('upload_is_final')
  })

  it('deletes a piece whose PutObject, repeated after a lost response, arrives after the join', async () => {
    const bytes = randomBytes(6 * MiB)
    const url = await partial(bytes)
    expect((await join([url])).status).toBe(201)
    await clearLeftovers(node.context)
    await site.bucket.replace(`${fileIdOf(url)}/file`, bytes)
    await clear()
    expect(await keysOf([url])).toEqual([])
  })

  it.each([
    ['an unfinished piece', () => client.begin(5, { 'Upload-Concat': 'partial' })],
    ['an upload that is not a piece', () => client.begin(3, {}, Buffer.from('abc'))],
    ['an address on another server', async () => 'https://example.com/files/1'],
  ])('returns 400 for %s', async (_, address) => {
    const reply = await join([await address()])
    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.body).code).toBe('invalid_header')
  })

  it('returns 400 for a request with an Upload-Length, or with anything else in Upload-Concat', async () => {
    const url = await partial(Buffer.from('abc'))
    expect((await join([url], { 'Upload-Length': '3' })).status).toBe(400)
    expect((await client.create(5, { 'Upload-Concat': 'whole' })).status).toBe(400)
    expect((await join([url, url])).status).toBe(400)
  })

  it('is attempted again if the bucket fails', { tags: 'long' }, async () => {
    const pieces = [randomBytes(6 * MiB), randomBytes(7 * MiB)]
    const urls = await Promise.all(pieces.map(partial))
    site.bucket.faults.add({
      operation: 'UploadPartCopy',
      times: 100,
      effect: { kind: 'refuse', status: 503, code: 'SlowDown' },
    })
    const made = await join(urls)
    expect(made.status).toBe(201)
    site.bucket.faults.clear()
    site.clock.advance(60_000)
    const status = async () =>
      (
        await rows<{ status: string }>(
          database.db,
          sql`select status from files where id = ${fileIdOf(made.headers.location!)}::uuid`,
        )
      )[0]?.status
    while ((await status()) !== 'transferred') await reconcileUploads(node.context)
    expect(
      (await site.bucket.object(`${fileIdOf(made.headers.location!)}/whole`)).equals(Buffer.concat(pieces)),
    ).toBe(true)
  })

  it('returns 503 while the bucket has not accepted a complete piece', async () => {
    const url = await client.begin(100, { 'Upload-Concat': 'partial' })
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    site.bucket.faults.add({ operation: 'PutObject', times: 100, effect })
    expect((await client.patch(url, 0, randomBytes(100))).status).toBe(204)
    const early = await join([url])
    expect([early.status, early.headers['retry-after']]).toEqual([503, '1'])
    site.bucket.faults.clear()
    site.clock.advance(60_000)
    await reconcileUploads(node.context)
    await Promise.all(node.context.background)
    expect((await join([url])).status).toBe(201)
  })

  it('returns 503 for a piece whose length was declared by a refused request', async () => {
    const url = await client.begin(null, { 'Upload-Concat': 'partial' })
    const declared = { 'Upload-Length': '0', 'Upload-Checksum': `sha1 ${randomBytes(20).toString('base64')}` }
    expect((await client.patch(url, 0, Buffer.alloc(0), declared)).status).toBe(460)
    expect((await client.head(url)).headers).toMatchObject({ 'upload-offset': '0', 'upload-length': '0' })
    expect((await join([url])).status).toBe(503)
    await reconcileUploads(node.context)
    await Promise.all(node.context.background)
    expect((await join([url])).status).toBe(201)
  })

  it('creates the file only once if the request is repeated, because a response may be lost', async () => {
    const pieces = [randomBytes(6 * MiB), randomBytes(100)]
    const urls = await Promise.all(pieces.map(partial))
    const replies = await Promise.all([join(urls), join(urls), join(urls)])
    replies.push(await join(urls))
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(replies.map(({ headers }) => headers.location)).size).toBe(1)
    const url = replies[0]!.headers.location!
    await Promise.all(node.context.background)
    expect((await site.bucket.object(`${fileIdOf(url)}/whole`)).equals(Buffer.concat(pieces))).toBe(true)
    await clear()
    expect(await keysOf([url, ...urls])).toEqual([`${fileIdOf(url)}/whole`])
    // A repeated request checks the pieces first, and must not send them again.
    const head = await client.head(urls[0]!)
    expect(head).toMatchObject({ status: 200, headers: { 'upload-offset': String(pieces[0]!.length) } })
  })

  it('returns the same file to a request that looked for it before its pieces were taken', async () => {
    const urls = [await partial(randomBytes(10)), await partial(randomBytes(20))]
    const first = await join(urls)
    const fileId = fileIdOf(first.headers.location!)
    const taken = (by: string | null) => sql`
      update files set joined_into = ${by}::uuid, retired_at = case when ${by}::uuid is null then null else now() end
      where id in (${sql.join(
        urls.map((url) => sql`${fileIdOf(url)}::uuid`),
        sql`, `,
      )})`
    await database.db.execute(taken(null))
    let second: ReturnType<typeof join> | undefined
    await database.db.transaction(async (tx) => {
      // The lock lets the query for the final upload pass, and blocks the query for the pieces.
      await tx.execute(sql`lock table file_destinations in access exclusive mode`)
      second = join(urls)
      await blocked(database)
      await tx.execute(taken(fileId))
    })
    expect(await second).toMatchObject({ status: 201, headers: { location: first.headers.location } })
  })

  it('creates another file if the pieces, their order or the name differ, unless the pieces are already taken', async () => {
    const urls = [await partial(randomBytes(10)), await partial(randomBytes(20))]
    const made = await join(urls)
    expect(made.status).toBe(201)
    const other = { 'Upload-Metadata': metadata({ filename: 'another' }) }
    for (const reply of [
      await join([...urls].reverse()),
      await join(urls.slice(0, 1)),
      await join(urls, other),
    ])
      expect(reply.status).toBe(400)
    expect((await client.terminate(made.headers.location!)).status).toBe(204)
    expect((await join(urls)).status).toBe(400)
    expect((await client.terminate(urls[0]!)).status).toBe(204)
    expect((await client.head(urls[0]!)).status).toBe(410)
  })

  it('deletes unjoined pieces six hours after their last byte', async () => {
    const url = await partial(randomBytes(100))
    const slow = await client.begin(200, { 'Upload-Concat': 'partial' })
    site.clock.advance(hours(5))
    expect((await client.patch(slow, 0, randomBytes(100))).status).toBe(204)
    site.clock.advance(hours(5))
    await expireUploads(node.context)
    await clearLeftovers(node.context)
    expect(await site.bucket.objects()).toContain(`${fileIdOf(url)}/file`)
    site.clock.advance(hours(2))
    expect(await expireUploads(node.context)).toBeGreaterThan(0)
    await clear()
    expect(await site.bucket.objects()).not.toContain(`${fileIdOf(url)}/file`)
    // Pieces that were never finished are deleted, too.
    site.clock.advance(days(8))
    await expireUploads(node.context)
    expect((await client.head(slow)).status).toBe(410)
    await renew()
  })

  it('limits pieces to what their token may create, and gives them no type', async () => {
    const limits = { maxFiles: 1, maxBytes: 1000, allowedTypes: ['image/*'] }
    const pieces = await site.client(node, limits)
    const page = { 'Upload-Concat': 'partial', 'Upload-Metadata': metadata({ filetype: 'text/html' }) }
    const made = await Promise.all(Array.from({ length: 12 }, () => pieces.create(100, page)))
    const urls = made.flatMap(({ headers }) => headers.location ?? [])
    expect(urls).toHaveLength(8)
    const refused = made.find(({ status }) => status !== 201)!
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([403, 'token_exhausted'])
    for (const url of urls.slice(1)) expect((await pieces.terminate(url)).status).toBe(204)
    expect((await pieces.create(901, page)).status).toBe(403)
    expect((await pieces.create(null, page)).status).toBe(403)
    const last = await pieces.create(900, page)
    expect(last.status).toBe(201)
    expect((await pieces.patch(urls[0]!, 0, randomBytes(100))).status).toBe(204)
    const look = sql`select filetype from files where id = ${fileIdOf(urls[0]!)}::uuid`
    expect(await rows(database.db, look)).toEqual([{ filetype: null }])
    for (const url of [urls[0]!, last.headers.location!])
      expect((await pieces.terminate(url)).status).toBe(204)
  })

  it('checks that the token allows the type of the file, whatever the types of its pieces', async () => {
    await renew({ allowedTypes: ['image/*'] })
    const piece = await partial(randomBytes(100))
    const as = (...of: Parameters<typeof metadata>) => join([piece], { 'Upload-Metadata': metadata(...of) })
    for (const refused of [await as({ filetype: 'text/html' }), await as({ filename: 'whole' })])
      expect([refused.status, JSON.parse(refused.body).code]).toEqual([403, 'type_not_allowed'])
    expect((await as({ filetype: 'image/png' })).status).toBe(201)
    await renew()
  })

  it('removes a deleted piece from the bucket, unless a file is being created from it', {
    tags: 'long',
  }, async () => {
    const [spare, used] = [await partial(randomBytes(100)), await partial(randomBytes(6 * MiB))]
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    site.bucket.faults.add({ operation: 'CreateMultipartUpload', times: 100, effect })
    const made = await join([used])
    expect(made.status).toBe(201)
    for (const url of [spare, used]) expect((await client.terminate(url)).status).toBe(204)
    await clear()
    const there = await site.bucket.objects()
    expect(there).not.toContain(`${fileIdOf(spare)}/file`)
    expect(there).toContain(`${fileIdOf(used)}/file`)
    site.bucket.faults.clear()
    site.clock.advance(60_000)
    await reconcileUploads(node.context)
    await Promise.all(node.context.background)
    const object = await site.bucket.object(`${fileIdOf(made.headers.location!)}/whole`)
    expect(object.length).toBe(6 * MiB)
    await clear()
    expect(await site.bucket.objects()).not.toContain(`${fileIdOf(used)}/file`)
  })

  it('keeps its pieces until the file is created, however long that takes, and shares them with no other file', {
    tags: 'long',
  }, async () => {
    const pieces = [randomBytes(6 * MiB), randomBytes(100)]
    const urls = await Promise.all(pieces.map(partial))
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    site.bucket.faults.add({ operation: 'CreateMultipartUpload', times: 100, effect })
    const replies = await Promise.all([join(urls), join([...urls].reverse())])
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400])
    const url = replies.find(({ status }) => status === 201)!.headers.location!
    site.clock.advance(hours(7 * 24 + 1))
    expect(await expireUploads(node.context)).toBe(0)
    await clearLeftovers(node.context)
    for (const piece of urls) expect(await site.bucket.objects()).toContain(`${fileIdOf(piece)}/file`)
    await renew()
    // Creating the file has failed for more than a day, so it gets one last attempt.
    for (const waitMs of [0, minutes(10)]) {
      site.clock.advance(waitMs)
      await reconcileUploads(node.context)
      await Promise.all(node.context.background)
    }
    for (const gone of [url, ...urls]) expect((await client.head(gone)).status).toBe(410)
    site.bucket.faults.clear()
    await clear()
    for (const piece of urls) expect(await site.bucket.objects()).not.toContain(`${fileIdOf(piece)}/file`)
  })

  it('releases its pieces when the object is found a day after its creation', { tags: 'long' }, async () => {
    const urls = await Promise.all([randomBytes(6 * MiB), randomBytes(100)].map(partial))
    const operation = 'CompleteMultipartUpload'
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    site.bucket.faults.add({ operation, at: 'answer', effect: { kind: 'cut' } })
    site.bucket.faults.add({ operation, call: 2, times: 1000, effect })
    const url = (await join(urls)).headers.location!
    for (const waitMs of [hours(25), minutes(10)]) {
      site.clock.advance(waitMs)
      await reconcileUploads(node.context)
      await Promise.all(node.context.background)
    }
    site.bucket.faults.clear()
    await renew()
    expect((await site.bucket.object(`${fileIdOf(url)}/whole`)).length).toBe(6 * MiB + 100)
    expect((await client.head(url)).status).toBe(200)
    await clear()
    for (const piece of urls) expect(await site.bucket.objects()).not.toContain(`${fileIdOf(piece)}/file`)
  })

  it.each([0, 1])(
    'supports parallelUploads in tus-js-client, even if the last response is lost %i times',
    { tags: 'long' },
    async (lost) => {
      const source = randomBytes(23 * MiB)
      const before = await usedBytes()
      let losing = lost
      const url = await new Promise<string>((resolve, reject) => {
        const upload: Upload = new Upload(source, {
          endpoint: client.collection,
          headers: { Authorization: `Bearer ${token}` },
          parallelUploads: 3,
          metadata: { filename: 'film.mp4' },
          onAfterResponse: (request) => {
            if (!request.getHeader('Upload-Concat')?.startsWith('final') || losing === 0) return
            losing -= 1
            throw new Error('the line was cut')
          },
          onSuccess: () => resolve(upload.url!),
          onError: (error) => (error.message.includes('the line was cut') ? upload.start() : reject(error)),
        })
        upload.start()
      })
      expect((await site.bucket.object(`${fileIdOf(url)}/film.mp4`)).equals(source)).toBe(true)
      expect((await usedBytes()) - before).toBe(source.length)
    },
  )
})
