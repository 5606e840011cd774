import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type Call, httpCall, openCall, type Reply } from '../../../test/support/http-call.ts'
import { open, requestHead } from '../../../test/support/raw-http.ts'
import { fileIdOf, tusCall, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { listFiles } from '../../dashboard/files/list-files.ts'
import { rows } from '../../platform/db/database.ts'
import { days, hours, minutes, seconds } from '../../platform/kernel/clock.ts'
import { clearLeftovers } from '../../uploads/endings/clear-leftovers.ts'
import { reconcileUploads } from '../../uploads/recovery/reconcile.ts'
import { expireUploads } from '../../uploads/recovery/upload-sweeps.ts'
import { drainUploads } from '../../uploads/upload-context.ts'

const MiB = 1024 * 1024
const TYPES = 'https://iana.org/assignments/http-problem-types#'
const PARTIAL = { 'Content-Type': 'application/partial-upload' }
const sha256 = (bytes: Buffer) => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`
const limits = /^max-size=\d+, min-size=0, max-age=\d+$/

const SLOW_DOWN = { kind: 'refuse', status: 503, code: 'SlowDown' } as const

describeWithDatabase('Resumable Uploads for HTTP', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let behindProxy: Awaited<ReturnType<typeof serveUploads>>
  let token: string
  let collection: string

  const renew = async () => {
    token = await site.token()
  }
  beforeAll(async () => {
    site = await createSite(database(), { bucket: { actions: ['s3:PutObject', 's3:AbortMultipartUpload'] } })
    node = await serveUploads(site.runtime)
    const config = { ...site.runtime.config, interimResponses: false }
    behindProxy = await serveUploads({ ...site.runtime, config })
    collection = `${node.url}/pipes/${site.pipe.id}/files/`
  })
  // Some of them move the clock past the life of a token.
  beforeEach(renew)
  afterAll(async () => {
    await node?.close()
    await behindProxy?.close()
    await site?.close()
  })

  const version = (interop: number) => ({ 'Upload-Draft-Interop-Version': String(interop) })
  const call = ({ headers, ...more }: Partial<Call> & Pick<Call, 'method'>) =>
    httpCall({ url: collection, token, headers: { ...version(10), ...headers }, ...more })
  const begin = (complete: string, body: Buffer, headers: Record<string, string> = {}) =>
    call({ method: 'POST', body, headers: { 'Upload-Complete': complete, ...headers } })
  const append = (
    url: string,
    offset: number | string,
    complete: string,
    body: Buffer,
    headers: Record<string, string> = {},
  ) =>
    call({
      method: 'PATCH',
      url,
      body,
      headers: { 'Upload-Offset': String(offset), 'Upload-Complete': complete, ...PARTIAL, ...headers },
    })
  const head = (url: string, headers: Record<string, string> = {}) => call({ method: 'HEAD', url, headers })
  const opened = (headers: Record<string, string>, url = collection) =>
    openCall({ method: 'POST', url, token, headers: { ...version(10), ...headers } })
  const objectOf = (url: string, name = 'file') => site.bucket.object(`${fileIdOf(url)}/${name}`)
  const newest = async () => (await listFiles(site.runtime, site.actor, { limit: 1 })).data[0]!
  const problemOf = ({ status, body }: Reply) => ({ status, ...JSON.parse(body) })
  const codeOf = ({ status, body }: Reply) => [status, JSON.parse(body).code]
  const inBucket = async () => [await site.bucket.objects(), await site.bucket.unfinished()]
  const leavesNothing = async (before: string[][]) => {
    // A multipart upload that was being begun is known only when that has ended.
    await Promise.all(node.context.background)
    site.clock.advance(minutes(2))
    await clearLeftovers(node.context)
    expect(await inBucket()).toEqual(before)
  }

  describe('creation', () => {
    it.each([3, 6, 8, 9, 10])(
      'is told by 104 to clients of interop version %i: the address, the limits, the version',
      async (interop) => {
        const complete: Record<string, string> =
          interop === 3 ? { 'Upload-Incomplete': '?0' } : { 'Upload-Complete': '?1' }
        const upload = opened({ ...version(interop), ...complete, 'Content-Length': '5' })
        await expect.poll(() => upload.interim).toHaveLength(1)
        const [{ status, headers }] = upload.interim as [(typeof upload.interim)[0]]
        expect(status).toBe(104)
        expect(headers['upload-draft-interop-version']).toBe(String(interop))
        const age = { 3: undefined, 6: /, expires=\d+$/ }[interop]
        if (interop === 3) expect(headers['upload-limit']).toBeUndefined()
        else expect(headers['upload-limit']).toMatch(age ?? limits)
        await upload.write(Buffer.from('hello'))
        const reply = await upload.reply
        expect(reply).toMatchObject({
          status: 201,
          headers: { location: headers.location, 'upload-offset': '5' },
        })
        if (interop === 3) expect(reply.headers['upload-incomplete']).toBe('?0')
        else expect(reply.headers['upload-complete']).toBe('?1')
        expect(await objectOf(headers.location!)).toEqual(Buffer.from('hello'))
      },
    )

    it('keeps no control characters of a name, which webhooks and terminals would be given', async () => {
      const reply = await call({
        method: 'POST',
        url: collection,
        body: Buffer.from('hello'),
        headers: {
          ...version(10),
          'Upload-Complete': '?1',
          'Content-Disposition': "attachment; filename*=UTF-8''a%1B%5D0%3BPWNED%07%0D%0A%C2%9Bb.txt",
        },
      })
      expect(reply.status).toBe(201)
      expect((await newest()).filename).toBe('a]0;PWNEDb.txt')
    })

    it('is 400 at any offset but 0', async () => {
      const at = (offset: string) =>
        call({
          method: 'POST',
          url: collection,
          body: Buffer.from('hello'),
          headers: { ...version(10), 'Upload-Complete': '?1', 'Upload-Offset': offset },
        })
      expect(codeOf(await at('5'))).toEqual([400, 'invalid_header'])
      expect((await at('0')).status).toBe(201)
    })

    it('is told by 104 although all of its body is here already', async () => {
      const url = new URL(collection)
      await using connection = open(url)
      const headers = { Authorization: `Bearer ${token}`, ...version(10), 'Upload-Complete': '?1' }
      connection.write(`${requestHead('POST', url, { ...headers, 'Content-Length': 5 })}hello`)
      expect(await connection.answer('POST')).toMatchObject({ status: 104 })
      expect(await connection.answer('POST')).toMatchObject({ status: 201 })
    })

    it.each([
      ['an unknown version', version(7)],
      ['none', { 'Upload-Draft-Interop-Version': 'ten' }],
    ])('is an ordinary upload, without 104, for clients of %s', async (_, headers) => {
      const upload = opened({ ...headers, 'Upload-Complete': '?1', 'Content-Length': '5' })
      await upload.write(Buffer.from('hello'))
      expect((await upload.reply).status).toBe(201)
      expect(upload.interim).toEqual([])
    })

    it('has no 104 where the way to the client is not known to carry it, and goes on all the same', async () => {
      const url = `${behindProxy.url}/pipes/${site.pipe.id}/files/`
      const upload = opened({ 'Upload-Complete': '?0', 'Content-Length': '5' }, url)
      await upload.write(Buffer.from('hello'))
      const { headers } = await upload.reply
      expect(upload.interim).toEqual([])
      expect((await append(headers.location!, 5, '?1', Buffer.from(' world'))).status).toBe(201)
      expect(await objectOf(headers.location!)).toEqual(Buffer.from('hello world'))
    })

    it.each(['POST', 'PUT'])('of a whole file by %s is 201 with its description', async (method) => {
      const bytes = randomBytes(9 * MiB)
      const url = method === 'PUT' ? `${collection}film.bin` : collection
      const headers = { 'Upload-Complete': '?1', 'Content-Disposition': 'inline; filename="film.bin"' }
      const reply = await call({ method, url, body: bytes, headers })
      expect(reply).toMatchObject({ status: 201, headers: { 'upload-complete': '?1' } })
      expect(JSON.parse(reply.body)).toMatchObject({
        filename: 'film.bin',
        size: bytes.length,
        status: 'transferred',
      })
      expect((await objectOf(reply.headers.location!, 'film.bin')).equals(bytes)).toBe(true)
      expect(await newest()).toMatchObject({ protocol: 'resumable-http', filename: 'film.bin' })
    })

    it('of a part of it is 201 with its address, its limits and Upload-Complete: ?0', async () => {
      const reply = await begin('?0', Buffer.from('hello'), { 'Upload-Length': '11' })
      expect(reply).toMatchObject({
        status: 201,
        headers: {
          location: expect.stringContaining(collection),
          'upload-complete': '?0',
          'upload-offset': '5',
          'upload-limit': expect.stringMatching(limits),
        },
      })
      expect(await head(reply.headers.location!)).toMatchObject({ headers: { 'upload-length': '11' } })
    })

    it('may bring nothing yet, or be of an empty file', async () => {
      const careful = await begin('?0', Buffer.alloc(0))
      expect(careful).toMatchObject({
        status: 201,
        headers: { 'upload-complete': '?0', 'upload-offset': '0' },
      })
      const empty = await begin('?1', Buffer.alloc(0))
      expect(empty).toMatchObject({ status: 201, headers: { 'upload-complete': '?1' } })
      expect(await objectOf(empty.headers.location!)).toHaveLength(0)
    })

    it('whose Upload-Length is not where the body ends is 400', async () => {
      const reply = await begin('?1', Buffer.from('hello'), { 'Upload-Length': '6' })
      expect(problemOf(reply)).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
    })

    it('that ends short of its Upload-Length, without a 104, has failed', async () => {
      const headers = { ...version(99), 'Upload-Length': '9', 'Transfer-Encoding': 'chunked' }
      const reply = await begin('?1', Buffer.from('hello'), headers)
      expect(problemOf(reply)).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      expect(await newest()).toMatchObject({ status: 'failed', failureReason: 'interrupted' })
    })

    it('with a malformed field is as if it were not there', async () => {
      const headers = { 'Upload-Complete': 'yes', 'Upload-Length': '-5' }
      const reply = await call({
        method: 'PUT',
        url: `${collection}odd`,
        body: Buffer.from('hello'),
        headers,
      })
      expect(reply.status).toBe(201)
      expect(reply.headers['upload-complete']).toBe('?1')
    })

    it('above the limit is 413 with Upload-Limit', async () => {
      token = await site.token({ maxBytes: 10 })
      const reply = await begin('?0', Buffer.alloc(0), { 'Upload-Length': '11' })
      expect(reply).toMatchObject({ status: 413, headers: { 'upload-limit': 'max-size=10' } })
      expect(reply.headers['tus-max-size']).toBeUndefined()
    })

    it('tells the offset by further 104s, without an address', async () => {
      const upload = opened({ 'Upload-Complete': '?1', 'Content-Length': String(20 * MiB) })
      await upload.write(randomBytes(17 * MiB))
      await expect
        .poll(() => upload.interim.at(-1)?.headers['upload-offset'], { timeout: 5000 })
        .toBe(String(16 * MiB))
      expect(upload.interim.at(-1)!.headers.location).toBeUndefined()
      await upload.write(randomBytes(3 * MiB))
      expect((await upload.reply).status).toBe(201)
    })
  })

  describe('a creation that is cut', () => {
    const begun = async (sent: Buffer, length: number) => {
      const upload = opened({ 'Upload-Complete': '?1', 'Content-Length': String(length) })
      await expect.poll(() => upload.interim).toHaveLength(1)
      await upload.write(sent)
      const url = upload.interim[0]!.headers.location!
      const look = sql`select coalesce(sum(octet_length(bytes)), 0)::int as bytes from upload_tails where file_id = ${fileIdOf(url)}::uuid`
      return { upload, url, tail: async () => (await rows<{ bytes: number }>(database().db, look))[0]!.bytes }
    }

    it('after its 104 keeps what came, is not complete, and goes on from the exact byte', async () => {
      const bytes = randomBytes(11 * MiB)
      const { upload, url } = await begun(bytes.subarray(0, 9 * MiB), bytes.length)
      upload.cut()
      const standing = await head(url)
      expect(standing).toMatchObject({
        status: 204,
        headers: { 'upload-complete': '?0', 'upload-length': String(bytes.length) },
      })
      const offset = Number(standing.headers['upload-offset'])
      expect(offset).toBeGreaterThan(8 * MiB)
      expect(await append(url, offset, '?1', bytes.subarray(offset))).toMatchObject({
        status: 201,
        headers: { 'upload-complete': '?1', 'upload-offset': String(bytes.length) },
      })
      expect((await objectOf(url)).equals(bytes)).toBe(true)
    })

    it('before its 104 could arrive leaves nothing behind within an hour', async () => {
      const before = await inBucket()
      const { upload, tail } = await begun(randomBytes(9 * MiB), 20 * MiB)
      await expect.poll(async () => (await newest()).offset).toBe(8 * MiB)
      upload.cut()
      const soon = site.clock.now() + hours(2)
      await expect.poll(async () => Date.parse((await newest()).expiresAt)).toBeLessThan(soon)
      expect(await tail()).toBeGreaterThan(0)
      site.clock.advance(minutes(61))
      await expireUploads(node.context)
      expect(await newest()).toMatchObject({ status: 'expired' })
      expect(await tail()).toBe(0)
      await leavesNothing(before)
    })

    it('that its client has continued, or that had time for its 104, lives as long as any upload', async () => {
      const quick = await begun(randomBytes(1000), 5000)
      quick.upload.cut()
      const { headers } = await head(quick.url)
      await append(quick.url, headers['upload-offset']!, '?0', randomBytes(1000))
      const slow = await begun(randomBytes(1000), 5000)
      site.clock.advance(seconds(11))
      slow.upload.cut()
      await expect.poll(slow.tail).toBeGreaterThan(0)
      site.clock.advance(days(1))
      await expireUploads(node.context)
      await renew()
      for (const { url } of [quick, slow]) expect((await head(url)).status).toBe(204)
    })

    it('without a 104, by a node that stops, says that the file must be sent again', async () => {
      const stopping = await serveUploads(site.runtime)
      const url = `${stopping.url}/pipes/${site.pipe.id}/files/`
      const headers = { ...version(99), 'Upload-Complete': '?1', 'Content-Length': '9' }
      const upload = opened(headers, url)
      await upload.write(Buffer.from('half'))
      await drainUploads(stopping.context)
      const reply = await upload.reply
      expect(problemOf(reply)).toMatchObject({
        status: 503,
        detail: expect.stringContaining('Send the file again'),
      })
      expect(await newest()).toMatchObject({ status: 'failed', failureReason: 'interrupted' })
      await stopping.close()
    })

    it.each(['?0', '?1'])('without a 104, of Upload-Complete: %s, has failed', async (complete) => {
      const before = await inBucket()
      const upload = opened({
        ...version(99),
        'Upload-Complete': complete,
        'Content-Length': String(20 * MiB),
      })
      await upload.write(randomBytes(9 * MiB))
      await expect.poll(async () => (await newest()).offset).toBe(8 * MiB)
      upload.cut()
      await expect.poll(newest).toMatchObject({ status: 'failed', failureReason: 'interrupted' })
      await leavesNothing(before)
    })
  })

  describe('offset retrieval', () => {
    it.each(['HEAD', 'GET'])(
      'by %s tells offset, completeness, length and limits, and is never cached',
      async (method) => {
        const { headers } = await begin('?0', Buffer.from('hello'), { 'Upload-Length': '11' })
        const url = headers.location!
        const expected = {
          'upload-offset': '5',
          'upload-complete': '?0',
          'upload-length': '11',
          'upload-limit': expect.stringMatching(limits),
          'cache-control': 'no-store',
        }
        expect(await call({ method, url })).toMatchObject({ status: 204, headers: expected })
        await append(url, 5, '?1', Buffer.from(' world'))
        expect(await call({ method, url })).toMatchObject({
          status: 204,
          headers: { 'upload-offset': '11', 'upload-complete': '?1' },
        })
      },
    )

    it('is 204 without a length until the client has told it', async () => {
      const { headers } = await begin('?0', Buffer.from('hello'))
      expect((await head(headers.location!)).headers['upload-length']).toBeUndefined()
    })

    it.each([
      [3, 400],
      [6, 400],
      [8, 204],
    ])('of interop version %i with Upload-Offset is %i', async (interop, status) => {
      const { headers } = await begin('?0', Buffer.from('hello'))
      const reply = await head(headers.location!, { ...version(interop), 'Upload-Offset': '5' })
      expect(reply.status).toBe(status)
    })

    it('stops the request that is still sending, and tells an offset that is taken', async () => {
      const bytes = randomBytes(12 * MiB)
      const upload = opened({ 'Upload-Complete': '?1', 'Content-Length': String(bytes.length) })
      await expect.poll(() => upload.interim).toHaveLength(1)
      await upload.write(bytes.subarray(0, 9 * MiB))
      const url = upload.interim[0]!.headers.location!
      const standing = await head(url)
      const offset = Number(standing.headers['upload-offset'])
      expect(codeOf(await upload.reply)).toEqual([503, 'unavailable'])
      expect((await append(url, offset, '?1', bytes.subarray(offset))).status).toBe(201)
      expect((await objectOf(url)).equals(bytes)).toBe(true)
    })

    it('is 404 for what never was, was canceled, or has expired', async () => {
      const [canceled, late] = [await begin('?0', Buffer.from('a')), await begin('?0', Buffer.from('a'))]
      const cancel = () => call({ method: 'DELETE', url: canceled.headers.location! })
      expect((await cancel()).status).toBe(204)
      expect((await cancel()).status).toBe(404)
      expect((await head(canceled.headers.location!)).status).toBe(404)
      expect((await head(`${collection}01890000-0000-7000-8000-000000000000`)).status).toBe(404)
      site.clock.advance(days(8))
      await renew()
      expect((await head(late.headers.location!)).status).toBe(404)
    })
  })

  describe('append', () => {
    const started = async (headers = {}) =>
      (await begin('?0', Buffer.from('hello'), headers)).headers.location!

    it.each([6, 8, 9, 10])(
      'of interop version %i goes on until it is told to be complete',
      async (interop) => {
        const url = await started()
        expect(await append(url, 5, '?0', Buffer.from(' wide'), version(interop))).toMatchObject({
          status: 201,
          headers: { 'upload-complete': '?0', 'upload-offset': '10' },
        })
        const done = await append(url, 10, '?1', Buffer.from(' world'), version(interop))
        expect(done).toMatchObject({
          status: 201,
          headers: { 'upload-complete': '?1', 'upload-offset': '16' },
        })
        expect(JSON.parse(done.body)).toMatchObject({ id: fileIdOf(url), size: 16, status: 'transferred' })
        expect(await objectOf(url)).toEqual(Buffer.from('hello wide world'))
      },
    )

    it('of interop version 3 says Upload-Incomplete, and needs no media type', async () => {
      const make = { ...version(3), 'Upload-Incomplete': '?1' }
      const made = await call({ method: 'POST', body: Buffer.from('hello'), headers: make })
      expect(made).toMatchObject({
        status: 201,
        headers: { 'upload-incomplete': '?1', 'upload-offset': '5' },
      })
      const headers = { ...version(3), 'Upload-Incomplete': '?0', 'Upload-Offset': '5' }
      const url = made.headers.location!
      const done = await call({ method: 'PATCH', url, body: Buffer.from(' world'), headers })
      expect(done).toMatchObject({ status: 201, headers: { 'upload-incomplete': '?0' } })
      expect(await objectOf(url)).toEqual(Buffer.from('hello world'))
    })

    it('of unknown length ends with its body', async () => {
      const url = await started()
      const bytes = randomBytes(9 * MiB)
      const done = await append(url, 5, '?1', bytes, { 'Transfer-Encoding': 'chunked' })
      expect(done).toMatchObject({ status: 201, headers: { 'upload-offset': String(5 + bytes.length) } })
      expect((await objectOf(url)).subarray(5).equals(bytes)).toBe(true)
    })

    it('that reaches the length does not complete the upload; Upload-Complete: ?1 does', async () => {
      const url = await started({ 'Upload-Length': '11' })
      expect(await append(url, 5, '?0', Buffer.from(' world'))).toMatchObject({
        status: 201,
        headers: { 'upload-complete': '?0', 'upload-offset': '11' },
      })
      expect(await reconcileUploads(node.context)).toBe(0)
      expect(await head(url)).toMatchObject({ headers: { 'upload-complete': '?0', 'upload-offset': '11' } })
      expect(await append(url, 11, '?1', Buffer.alloc(0))).toMatchObject({
        status: 201,
        headers: { 'upload-complete': '?1' },
      })
      expect(await objectOf(url)).toEqual(Buffer.from('hello world'))
    })

    it('that reaches the length while the bucket takes no part keeps its bytes, and is not complete', async () => {
      const bytes = randomBytes(14 * MiB)
      const { headers } = await begin('?0', Buffer.alloc(0), { 'Upload-Length': String(bytes.length) })
      const url = headers.location!
      const key = `${fileIdOf(url)}/file`
      site.bucket.faults.add({ operation: 'UploadPart', key, partNumber: 2, times: 100, effect: SLOW_DOWN })
      expect((await append(url, 0, '?0', bytes)).status).toBeGreaterThanOrEqual(500)
      expect(await newest()).toMatchObject({ status: 'uploading', offset: bytes.length })
      site.bucket.faults.clear()
      expect(await append(url, bytes.length, '?1', Buffer.alloc(0))).toMatchObject({ status: 201 })
      expect((await objectOf(url)).equals(bytes)).toBe(true)
    })

    it('that has all of its bytes, and is never told to be complete, expires', async () => {
      const url = await started({ 'Upload-Length': '5' })
      site.clock.advance(days(7) + hours(1))
      await expireUploads(node.context)
      await renew()
      expect((await head(url)).status).toBe(404)
    })

    it('at another offset is 409 with the right one, and the problem type of the draft', async () => {
      const url = await started()
      const reply = await append(url, 9, '?1', Buffer.from('x'))
      expect(reply.headers).toMatchObject({ 'upload-offset': '5', 'upload-complete': '?0' })
      expect(problemOf(reply)).toMatchObject({
        status: 409,
        type: `${TYPES}mismatching-upload-offset`,
        'expected-offset': 5,
        'provided-offset': 9,
      })
    })

    it.each([
      ['without Upload-Offset', { 'Upload-Offset': 'x' }, 400],
      ['without Upload-Complete', { 'Upload-Complete': '1' }, 400],
      ['of another media type', { 'Content-Type': 'application/octet-stream' }, 415],
    ])('%s is %j: %i', async (_, headers, status) => {
      const url = await started()
      expect((await append(url, 5, '?1', Buffer.from('x'), headers)).status).toBe(status)
      expect((await head(url)).headers['upload-offset']).toBe('5')
    })

    it.each([
      ['with another Upload-Length', '?0', 'x', { 'Upload-Length': '12' }],
      ['that ends the upload short of its length', '?1', 'x', {}],
      ['that would end past it', '?0', 'more than that', {}],
    ])('%s is 400, and the upload goes on', async (_, complete, text, headers) => {
      const url = await started({ 'Upload-Length': '11' })
      const reply = await append(url, 5, complete, Buffer.from(text), headers)
      expect(problemOf(reply)).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      expect((await append(url, 5, '?1', Buffer.from(' world'))).status).toBe(201)
    })

    it('whose body runs past the length is 400, and makes the upload invalid', async () => {
      const url = await started({ 'Upload-Length': '11' })
      const chunked = { 'Transfer-Encoding': 'chunked' }
      const reply = await append(url, 5, '?0', Buffer.from(' world and more'), chunked)
      expect(problemOf(reply)).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      expect((await head(url)).status).toBe(404)
    })

    it('whose body in chunks ends short of the length is 400 once its bytes are kept', async () => {
      const url = await started({ 'Upload-Length': '11' })
      const reply = await append(url, 5, '?1', Buffer.from(' wor'), { 'Transfer-Encoding': 'chunked' })
      expect(problemOf(reply)).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      expect((await append(url, 9, '?1', Buffer.from('ld'))).status).toBe(201)
    })

    it('to what is complete already is told the same again if it is empty, and 400 otherwise', async () => {
      const url = await started()
      const done = await append(url, 5, '?1', Buffer.from(' world'))
      const again = await append(url, 11, '?1', Buffer.alloc(0))
      expect(again).toMatchObject({ status: 201, body: done.body })
      const more = await append(url, 11, '?1', Buffer.from('!'))
      expect(problemOf(more)).toMatchObject({ status: 400, type: `${TYPES}completed-upload` })
      expect((await append(url, 5, '?1', Buffer.from(' world'))).status).toBe(409)
    })

    it('whose body is longer than its own Upload-Length is 400 as inconsistent, as in a creation', async () => {
      const size = { 'Upload-Length': '4' }
      const created = problemOf(await begin('?0', Buffer.from('hello'), size))
      expect(created).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      const url = (await begin('?0', Buffer.alloc(0))).headers.location!
      const appended = problemOf(await append(url, 0, '?0', Buffer.from('hello'), size))
      expect(appended).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
    })

    it('that finds no part left is refused by a code of its own, and does not end the upload', async () => {
      const half = randomBytes(17 * MiB)
      const size = { 'Upload-Length': String(2 * half.length) }
      const url = (await begin('?0', half, size)).headers.location!
      const usedUp = sql`update files set recorded_parts = 10000 where id = ${fileIdOf(url)}::uuid`
      await database().db.execute(usedUp)
      const refused = await append(url, half.length, '?1', half)
      expect(problemOf(refused)).toMatchObject({ status: 413, code: 'parts_used_up' })
      expect(problemOf(refused).detail).toContain('Begin a new upload')
      expect((await head(url)).headers['upload-offset']).toBe(String(half.length))
    })

    it('that is cut keeps what came, and is not complete', async () => {
      const url = await started({ 'Upload-Length': String(20 * MiB) })
      const headers = { ...version(8), ...PARTIAL, 'Upload-Offset': '5', 'Upload-Complete': '?1' }
      const length = { 'Content-Length': String(20 * MiB - 5) }
      const patch = openCall({ method: 'PATCH', url, token, headers: { ...headers, ...length } })
      await patch.write(randomBytes(9 * MiB))
      await expect.poll(async () => (await newest()).offset).toBe(8 * MiB)
      patch.cut()
      const standing = await head(url)
      expect(standing.headers['upload-complete']).toBe('?0')
      expect(Number(standing.headers['upload-offset'])).toBeGreaterThan(8 * MiB)
    })
  })

  describe('digests', () => {
    const wrong = sha256(Buffer.from('other'))

    it('Content-Digest of a body that does not agree: 400, and nothing of it is appended', async () => {
      const url = (await begin('?0', Buffer.from('hello'))).headers.location!
      const reply = await append(url, 5, '?1', Buffer.from(' world'), { 'Content-Digest': wrong })
      expect(codeOf(reply)).toEqual([400, 'checksum_mismatch'])
      expect((await head(url)).headers['upload-offset']).toBe('5')
      const right = { 'Content-Digest': sha256(Buffer.from(' world')) }
      expect((await append(url, 5, '?1', Buffer.from(' world'), right)).status).toBe(201)
    })

    it('Repr-Digest of a file that came by one request and does not agree: 400, and nothing is in the bucket', async () => {
      const before = await inBucket()
      const bytes = randomBytes(9 * MiB)
      expect(codeOf(await begin('?1', bytes, { 'Repr-Digest': wrong }))).toEqual([400, 'checksum_mismatch'])
      await leavesNothing(before)
      await renew()
      expect((await begin('?1', bytes, { 'Repr-Digest': sha256(bytes) })).status).toBe(201)
    })
  })

  describe('beside the other protocols', () => {
    it('OPTIONS is 200 with Upload-Limit, without a token', async () => {
      const reply = await call({ method: 'OPTIONS' })
      expect(reply).toMatchObject({
        status: 200,
        headers: {
          'upload-limit': expect.stringMatching(limits),
          'accept-patch': 'application/partial-upload',
        },
      })
    })

    it('continues no upload of TUS: HEAD is 404, and the rest 409 without an offset', async () => {
      const tus = tusClient({ url: node.url, pipeId: site.pipe.id, token })
      const url = await tus.begin(11)
      expect((await head(url)).status).toBe(404)
      for (const reply of [
        await append(url, 0, '?1', Buffer.from('hello world')),
        await call({ method: 'DELETE', url }),
      ]) {
        expect(codeOf(reply)).toEqual([409, 'other_protocol'])
        expect(JSON.parse(reply.body).detail).toContain('created by TUS')
        expect(reply.headers['upload-offset']).toBeUndefined()
      }
      expect((await tus.patch(url, 0, Buffer.from('hello world'))).status).toBe(204)
    })

    it('is continued by no client of TUS', async () => {
      const url = (await begin('?0', Buffer.alloc(0), { 'Upload-Length': '5' })).headers.location!
      expect((await tusCall({ method: 'HEAD', url, token })).status).toBe(404)
      const tus = tusClient({ url: node.url, pipeId: site.pipe.id, token })
      const reply = await tus.patch(url, 0, Buffer.from('hello'))
      expect(codeOf(reply)).toEqual([409, 'other_protocol'])
      expect(JSON.parse(reply.body).detail).toContain('Resumable Uploads for HTTP')
      expect(reply.headers['upload-offset']).toBeUndefined()
      expect((await append(url, 0, '?1', Buffer.from('hello'))).status).toBe(201)
    })
  })
})
