import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type Call, httpCall, openCall } from '../../../test/support/http-call.ts'
import { tusCall } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { listFiles } from '../../dashboard/files/list-files.ts'
import { rows } from '../../platform/db/database.ts'
import { clearLeftovers } from '../../recovery/clear-leftovers.ts'
import { reconcileUploads } from '../../recovery/reconcile.ts'
import { endInterruptedUploads } from '../../recovery/upload-sweeps.ts'
import { cancelUpload } from '../../uploads/endings/end-upload.ts'
import { drainUploads } from '../../uploads/upload-context.ts'
import { countRefusedCreation, hasTooManyRefused } from '../../workspace/tokens/refused-creations.ts'

const MiB = 1024 * 1024
const hex = (bytes: Buffer) => `crc32:${crc32(bytes).toString(16).padStart(8, '0')}`
const sha = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('base64')

describeWithDatabase('a file sent in one plain request', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let token: string
  let collection: string

  beforeAll(async () => {
    site = await createSite(database(), { bucket: { actions: ['s3:PutObject', 's3:AbortMultipartUpload'] } })
    node = await serveUploads(site.runtime)
    token = await site.token()
    collection = `${node.url}/pipes/${site.pipe.id}/files/`
  })
  afterEach(() => site.bucket.faults.clear())
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  const send = (name: string, body: Buffer, more: Partial<Call> = {}) =>
    httpCall({ method: 'PUT', url: collection + name, token, body, ...more })
  const codeOf = ({ status, body }: { status: number; body: string }) => [status, JSON.parse(body).code]
  const newest = async () => (await listFiles(site.runtime, site.actor, { limit: 1 })).data[0]!
  const nothingNew = async (before: string[]) => {
    expect(await site.bucket.objects()).toEqual(before)
    site.clock.advance(120_000)
    await clearLeftovers(node.context)
    expect(await site.bucket.unfinished()).toEqual([])
  }

  it.each([0, 1000, 20 * MiB])(
    'of %i bytes is stored in the bucket, and the response is 201 with its description',
    async (size) => {
      const bytes = randomBytes(size)
      const reply = await send('film.bin', bytes, { headers: { 'Content-Type': 'video/mp4' } })
      const file = JSON.parse(reply.body)
      expect(reply).toMatchObject({ status: 201, headers: { location: collection + file.id } })
      expect(reply.headers['tus-resumable']).toBeUndefined()
      expect(file).toEqual({
        id: expect.any(String),
        filename: 'film.bin',
        size,
        status: 'transferred',
        checksum: hex(bytes),
      })
      expect((await site.bucket.object(`${file.id}/film.bin`)).equals(bytes)).toBe(true)
      expect(await newest()).toMatchObject({
        id: file.id,
        protocol: 'http',
        filetype: 'video/mp4',
        size,
        offset: size,
        status: 'transferred',
        checksum: hex(bytes),
      })
    },
  )

  it('may be empty, and sent by POST', async () => {
    const reply = await send('', Buffer.alloc(0), { method: 'POST' })
    expect(reply.status).toBe(201)
    expect(JSON.parse(reply.body)).toMatchObject({ filename: 'file', size: 0, status: 'transferred' })
  })

  it.each([1000, 20 * MiB])('of %i bytes may be sent in chunks, without a length', async (size) => {
    const bytes = randomBytes(size)
    const headers = { 'Transfer-Encoding': 'chunked' }
    const reply = await send('stream', bytes, { method: 'PUT', headers })
    expect(reply.status).toBe(201)
    const { id } = JSON.parse(reply.body)
    expect((await site.bucket.object(`${id}/stream`)).equals(bytes)).toBe(true)
    expect(await newest()).toMatchObject({ id, size })
  })

  it('can also be sent by POST, with its name in Content-Disposition', async () => {
    const headers = {
      'Content-Disposition': "attachment; filename=x; filename*=UTF-8''na%C3%AFve%20file.txt",
    }
    const reply = await httpCall({ method: 'POST', url: collection, token, headers, body: Buffer.from('x') })
    expect(JSON.parse(reply.body)).toMatchObject({ filename: 'naïve file.txt', size: 1 })
  })

  it('may be sent by a page on another origin, after a preflight', async () => {
    const Origin = 'https://a.example'
    const headers = { Origin, 'Access-Control-Request-Method': 'PUT' }
    const leave = await httpCall({ method: 'OPTIONS', url: `${collection}my%20film.bin`, headers })
    expect(leave.status).toBe(200)
    expect(leave.headers['access-control-allow-methods']).toContain('PUT')
    const reply = await send('my%20film.bin', Buffer.from('x'), { headers: { Origin } })
    expect(reply).toMatchObject({ status: 201, headers: { 'access-control-allow-origin': Origin } })
  })

  it('gets a 202 response if the bucket is slow, and is transferred later', async () => {
    const hasty = await serveUploads(site.runtime, { terms: { assembleMs: 50 } })
    site.bucket.faults.add({ operation: 'PutObject', effect: { kind: 'hold', gate: 'slow' } })
    const url = `${hasty.url}/pipes/${site.pipe.id}/files/slow.txt`
    const reply = await send('slow.txt', Buffer.from('slow'), { url })
    expect(reply).toMatchObject({ status: 202, headers: { location: expect.stringContaining('/files/') } })
    expect(JSON.parse(reply.body)).toMatchObject({ status: 'transferring', checksum: null })
    site.bucket.faults.clear()
    site.clock.advance(60_000)
    await reconcileUploads(node.context)
    expect(await newest()).toMatchObject({ status: 'transferred', filename: 'slow.txt' })
    await hasty.close()
  })

  describe('that is interrupted', () => {
    it.each([
      ['with a length', { 'Content-Length': String(20 * MiB) }],
      ['in chunks', { 'Transfer-Encoding': 'chunked' }],
      ['with a digest', { 'Content-Length': String(20 * MiB), 'Content-MD5': sha('md5', Buffer.of(1)) }],
    ])('%s, fails without an object, and its parts are deleted', async (_, headers) => {
      const before = await site.bucket.objects()
      const call = openCall({ method: 'PUT', url: `${collection}cut.bin`, token, headers })
      await call.write(randomBytes(9 * MiB))
      await expect.poll(() => site.bucket.unfinished()).toHaveLength(1)
      call.cut()
      await expect
        .poll(newest, { timeout: 10_000 })
        .toMatchObject({ filename: 'cut.bin', status: 'failed', failureReason: 'interrupted' })
      await nothingNew(before)
    })

    it("does not count toward the token's file limit, but can only be repeated a limited number of times", async () => {
      const token = await site.token({ maxFiles: 1 })
      const newestToken = sql`select id from tokens order by created_at desc limit 1`
      const [{ id }] = (await rows<{ id: string }>(database().db, newestToken)) as [{ id: string }]
      for (let times = 1; times < 30; times += 1) await countRefusedCreation(site.runtime, id)
      const headers = { 'Content-Length': '9' }
      const call = openCall({ method: 'PUT', url: `${collection}again.bin`, token, headers })
      await expect.poll(newest).toMatchObject({ filename: 'again.bin', status: 'uploading' })
      call.cut()
      await expect.poll(newest).toMatchObject({ status: 'failed', failureReason: 'interrupted' })
      // The interruption is counted after the upload has ended.
      const limited = sql`select ${hasTooManyRefused(site.clock.now())} as limited from tokens t where t.id = ${id}`
      await expect.poll(() => rows(database().db, limited)).toEqual([{ limited: true }])
      expect(codeOf(await send('again.bin', Buffer.from('whole'), { token }))).toEqual([429, 'rate_limited'])
      site.clock.advance(10_000)
      expect((await send('again.bin', Buffer.from('whole'), { token })).status).toBe(201)
      expect((await send('second.bin', Buffer.from('whole'), { token })).status).toBe(403)
    })

    it('can be sent again if the node was stopping', async () => {
      const token = await site.token({ maxFiles: 1 })
      const stopping = await serveUploads(site.runtime)
      const url = `${stopping.url}/pipes/${site.pipe.id}/files/stopped.bin`
      const call = openCall({ method: 'PUT', url, token, headers: { 'Content-Length': '9' } })
      await expect.poll(newest).toMatchObject({ filename: 'stopped.bin', status: 'uploading' })
      await call.write(Buffer.from('half'))
      await drainUploads(stopping.context)
      expect((await call.reply).status).toBe(503)
      expect((await send('stopped.bin', Buffer.from('whole'), { token })).status).toBe(201)
      await stopping.close()
    })

    it('is ended by the sweep if its node has died', async () => {
      const call = openCall({
        method: 'PUT',
        url: `${collection}dead.bin`,
        token,
        headers: { 'Content-Length': '9' },
      })
      await expect.poll(newest).toMatchObject({ filename: 'dead.bin', status: 'uploading' })
      expect(await endInterruptedUploads(node.context)).toBe(0)
      await rows(
        database().db,
        sql`update files set lease_fence = lease_fence + 1, lease_until = now() - interval '1 second' where filename = 'dead.bin'`,
      )
      expect(await endInterruptedUploads(node.context)).toBe(1)
      expect(await newest()).toMatchObject({ status: 'failed', failureReason: 'interrupted' })
      call.cut()
    })
  })

  describe('digests', () => {
    const bytes = randomBytes(9 * MiB)
    const right = [
      ['Content-MD5', sha('md5', bytes)],
      ['Content-Digest', `sha-256=:${sha('sha256', bytes)}:`],
      ['Repr-Digest', `sha-512=:${sha('sha512', bytes)}:, unixsum=:AAAA:`],
      ['Content-Digest', 'nonsense; ='],
    ] as const
    it.each(right)('accepts %s: %s', async (name, value) => {
      expect((await send('a', bytes, { headers: { [name]: value } })).status).toBe(201)
    })

    it('accepts two fields that name the same algorithm', async () => {
      const sum = `sha-256=:${sha('sha256', bytes)}:`
      const headers = { 'Content-Digest': sum, 'Repr-Digest': sum }
      expect((await send('twice', bytes, { headers })).status).toBe(201)
    })

    const wrong = [
      ['Content-MD5', sha('md5', Buffer.of(1))],
      ['Content-Digest', `sha-512=:${sha('sha512', Buffer.of(1))}:`],
      ['Repr-Digest', `sha-256=:${sha('sha256', Buffer.of(1))}:, sha-512=:${sha('sha512', bytes)}:`],
    ] as const
    it.each(wrong)(
      'returns 400 for a wrong %s: %s, and leaves nothing in the bucket',
      async (name, value) => {
        const before = await site.bucket.objects()
        const reply = await send('b', bytes, { headers: { [name]: value } })
        expect(codeOf(reply)).toEqual([400, 'checksum_mismatch'])
        await nothingNew(before)
      },
    )

    it('returns 400 for an invalid Content-MD5', async () => {
      expect(codeOf(await send('c', bytes, { headers: { 'Content-MD5': 'abc' } }))).toEqual([
        400,
        'invalid_header',
      ])
    })
  })

  describe('that is refused', () => {
    it('returns 401 without a token, or with an invalid one', async () => {
      expect(codeOf(await send('a', bytes, { token: undefined }))).toEqual([401, 'token_missing'])
      expect(codeOf(await send('a', bytes, { token: 'tmp_x' }))).toEqual([401, 'token_invalid'])
    })

    it('returns 403 for a type and 413 for a size that the token does not allow', async () => {
      const strict = await site.token({ allowedTypes: ['image/*'], maxBytes: 10 })
      const png = { 'Content-Type': 'image/png' }
      expect(codeOf(await send('a', bytes, { token: strict }))).toEqual([403, 'type_not_allowed'])
      expect(codeOf(await send('a', bytes, { token: strict, headers: png }))).toEqual([413, 'file_too_large'])
      const chunked = { ...png, 'Transfer-Encoding': 'chunked' }
      expect(codeOf(await send('a', bytes, { token: strict, headers: chunked }))).toEqual([
        413,
        'file_too_large',
      ])
    })

    it('returns 415 for a form, which would be stored as received', async () => {
      const headers = { 'Content-Type': 'multipart/form-data; boundary=x' }
      expect(codeOf(await send('a', bytes, { headers }))).toEqual([415, 'unsupported_media_type'])
    })

    it('returns 400 for a name that is not UTF-8', async () => {
      expect(codeOf(await send('%ff', bytes))).toEqual([400, 'invalid_request'])
    })

    it('returns 410 if the file was canceled while it was being sent', async () => {
      const headers = { 'Content-Length': String(20 * MiB) }
      const call = openCall({ method: 'PUT', url: `${collection}canceled`, token, headers })
      await call.write(randomBytes(9 * MiB))
      await expect.poll(newest).toMatchObject({ filename: 'canceled', offset: 8 * MiB })
      await cancelUpload(node.context, { fileId: (await newest()).id, workspaceId: site.workspaceId })
      await call.write(randomBytes(11 * MiB))
      expect(codeOf(await call.reply)).toEqual([410, 'upload_gone'])
      expect(await newest()).toMatchObject({ status: 'canceled' })
    })

    const bytes = Buffer.from('a few bytes')
  })

  it('cannot be continued with TUS: HEAD returns 404, and other methods 409 without an offset', async () => {
    const url = JSON.parse((await send('mine', Buffer.from('x'))).body).id
    const of = (method: string, headers = {}) => tusCall({ method, url: collection + url, token, headers })
    expect((await of('HEAD')).status).toBe(404)
    const patch = await of('PATCH', {
      'Upload-Offset': '0',
      'Content-Type': 'application/offset+octet-stream',
    })
    for (const reply of [patch, await of('DELETE')]) {
      expect(codeOf(reply)).toEqual([409, 'other_protocol'])
      expect(JSON.parse(reply.body).detail).toContain('a single HTTP request')
      expect(reply.headers['upload-offset']).toBeUndefined()
    }
  })
})
