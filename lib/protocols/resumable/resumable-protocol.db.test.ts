import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { openCall } from '../../../test/support/http-call.ts'
import { MiB, PARTIAL, resumableSite, sha256, TYPES } from '../../../test/support/resumable-site.ts'
import { fileIdOf, tusCall, tusClient } from '../../../test/support/tus-client.ts'
import { days, hours } from '../../platform/kernel/clock.ts'
import { reconcileUploads } from '../../recovery/reconcile.ts'
import { expireUploads } from '../../recovery/upload-sweeps.ts'

const limits = /^max-size=\d+, min-size=0, max-age=\d+$/

const SLOW_DOWN = { kind: 'refuse', status: 503, code: 'SlowDown' } as const

describeWithDatabase('Resumable Uploads for HTTP', (database) => {
  const {
    at,
    renew,
    version,
    call,
    begin,
    append,
    head,
    opened,
    objectOf,
    newest,
    problemOf,
    codeOf,
    inBucket,
    leavesNothing,
  } = resumableSite(database)

  describe('offset retrieval', () => {
    it.each(['HEAD', 'GET'])(
      'by %s returns the offset, completeness, length and limits, and is never cached',
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

    it('returns 204 without a length until the client has declared it', async () => {
      const { headers } = await begin('?0', Buffer.from('hello'))
      expect((await head(headers.location!)).headers['upload-length']).toBeUndefined()
    })

    it.each([
      [3, 400],
      [6, 400],
      [8, 204],
    ])('by a client of interop version %i that sends Upload-Offset returns %i', async (interop, status) => {
      const { headers } = await begin('?0', Buffer.from('hello'))
      const reply = await head(headers.location!, { ...version(interop), 'Upload-Offset': '5' })
      expect(reply.status).toBe(status)
    })

    it('stops a request that is still sending, and returns an offset at which the client can continue', async () => {
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

    it('returns 404 if the upload never existed, was canceled, or has expired', async () => {
      const [canceled, late] = [await begin('?0', Buffer.from('a')), await begin('?0', Buffer.from('a'))]
      const cancel = () => call({ method: 'DELETE', url: canceled.headers.location! })
      expect((await cancel()).status).toBe(204)
      expect((await cancel()).status).toBe(404)
      expect((await head(canceled.headers.location!)).status).toBe(404)
      expect((await head(`${at.collection}01890000-0000-7000-8000-000000000000`)).status).toBe(404)
      at.site.clock.advance(days(8))
      await renew()
      expect((await head(late.headers.location!)).status).toBe(404)
    })
  })

  describe('append', () => {
    const started = async (headers = {}) =>
      (await begin('?0', Buffer.from('hello'), headers)).headers.location!

    it.each([6, 8, 9, 10])(
      'with interop version %i continues the upload until it is declared complete',
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

    it('with interop version 3 uses Upload-Incomplete, and needs no media type', async () => {
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
      expect(await reconcileUploads(at.node.context)).toBe(0)
      expect(await head(url)).toMatchObject({ headers: { 'upload-complete': '?0', 'upload-offset': '11' } })
      expect(await append(url, 11, '?1', Buffer.alloc(0))).toMatchObject({
        status: 201,
        headers: { 'upload-complete': '?1' },
      })
      expect(await objectOf(url)).toEqual(Buffer.from('hello world'))
    })

    it('that reaches the length while the bucket accepts no part keeps its bytes, and does not complete the upload', async () => {
      const bytes = randomBytes(14 * MiB)
      const { headers } = await begin('?0', Buffer.alloc(0), { 'Upload-Length': String(bytes.length) })
      const url = headers.location!
      const key = `${fileIdOf(url)}/file`
      at.site.bucket.faults.add({
        operation: 'UploadPart',
        key,
        partNumber: 2,
        times: 100,
        effect: SLOW_DOWN,
      })
      expect((await append(url, 0, '?0', bytes)).status).toBeGreaterThanOrEqual(500)
      expect(await newest()).toMatchObject({ status: 'uploading', offset: bytes.length })
      at.site.bucket.faults.clear()
      expect(await append(url, bytes.length, '?1', Buffer.alloc(0))).toMatchObject({ status: 201 })
      expect((await objectOf(url)).equals(bytes)).toBe(true)
    })

    it('of the last bytes does not prevent an upload from expiring if it is never declared complete', async () => {
      const url = await started({ 'Upload-Length': '5' })
      at.site.clock.advance(days(7) + hours(1))
      await expireUploads(at.node.context)
      await renew()
      expect((await head(url)).status).toBe(404)
    })

    it("at a wrong offset returns 409 with the correct offset and the draft's problem type", async () => {
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
    ])('%s (%j) returns %i', async (_, headers, status) => {
      const url = await started()
      expect((await append(url, 5, '?1', Buffer.from('x'), headers)).status).toBe(status)
      expect((await head(url)).headers['upload-offset']).toBe('5')
    })

    it.each([
      ['with another Upload-Length', '?0', 'x', { 'Upload-Length': '12' }],
      ['that ends the upload before its length', '?1', 'x', {}],
      ['that would exceed its length', '?0', 'more than that', {}],
    ])('%s returns 400, and the upload can be continued', async (_, complete, text, headers) => {
      const url = await started({ 'Upload-Length': '11' })
      const reply = await append(url, 5, complete, Buffer.from(text), headers)
      expect(problemOf(reply)).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      expect((await append(url, 5, '?1', Buffer.from(' world'))).status).toBe(201)
    })

    it('whose body exceeds the length returns 400, and invalidates the upload', async () => {
      const url = await started({ 'Upload-Length': '11' })
      const chunked = { 'Transfer-Encoding': 'chunked' }
      const reply = await append(url, 5, '?0', Buffer.from(' world and more'), chunked)
      expect(problemOf(reply)).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      expect((await head(url)).status).toBe(404)
    })

    it('whose chunked body ends before the length returns 400 once its bytes are stored', async () => {
      const url = await started({ 'Upload-Length': '11' })
      const reply = await append(url, 5, '?1', Buffer.from(' wor'), { 'Transfer-Encoding': 'chunked' })
      expect(problemOf(reply)).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      expect((await append(url, 9, '?1', Buffer.from('ld'))).status).toBe(201)
    })

    it('to a complete upload returns the same response again if it is empty, and 400 otherwise', async () => {
      const url = await started()
      const done = await append(url, 5, '?1', Buffer.from(' world'))
      const again = await append(url, 11, '?1', Buffer.alloc(0))
      expect(again).toMatchObject({ status: 201, body: done.body })
      const more = await append(url, 11, '?1', Buffer.from('!'))
      expect(problemOf(more)).toMatchObject({ status: 400, type: `${TYPES}completed-upload` })
      expect((await append(url, 5, '?1', Buffer.from(' world'))).status).toBe(409)
    })

    it('whose body is longer than its own Upload-Length returns 400 for inconsistent lengths, as a creation does', async () => {
      const size = { 'Upload-Length': '4' }
      const created = problemOf(await begin('?0', Buffer.from('hello'), size))
      expect(created).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      const url = (await begin('?0', Buffer.alloc(0))).headers.location!
      const appended = problemOf(await append(url, 0, '?0', Buffer.from('hello'), size))
      expect(appended).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
    })

    it('for which no part number is left returns 413 with its own code, and does not end the upload', async () => {
      const half = randomBytes(17 * MiB)
      const size = { 'Upload-Length': String(2 * half.length) }
      const url = (await begin('?0', half, size)).headers.location!
      const usedUp = sql`update files set recorded_parts = 10000 where id = ${fileIdOf(url)}::uuid`
      await database().db.execute(usedUp)
      const refused = await append(url, half.length, '?1', half)
      expect(problemOf(refused)).toMatchObject({ status: 413, code: 'parts_used_up' })
      expect(problemOf(refused).detail).toContain('Start a new upload')
      expect((await head(url)).headers['upload-offset']).toBe(String(half.length))
    })

    it('that is interrupted keeps the received bytes, and does not complete the upload', async () => {
      const url = await started({ 'Upload-Length': String(20 * MiB) })
      const headers = { ...version(8), ...PARTIAL, 'Upload-Offset': '5', 'Upload-Complete': '?1' }
      const length = { 'Content-Length': String(20 * MiB - 5) }
      const patch = openCall({ method: 'PATCH', url, token: at.token, headers: { ...headers, ...length } })
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

    it('returns 400 if the body does not match Content-Digest, and appends nothing', async () => {
      const url = (await begin('?0', Buffer.from('hello'))).headers.location!
      const reply = await append(url, 5, '?1', Buffer.from(' world'), { 'Content-Digest': wrong })
      expect(codeOf(reply)).toEqual([400, 'checksum_mismatch'])
      expect((await head(url)).headers['upload-offset']).toBe('5')
      const right = { 'Content-Digest': sha256(Buffer.from(' world')) }
      expect((await append(url, 5, '?1', Buffer.from(' world'), right)).status).toBe(201)
    })

    it('returns 400 if a file sent in one request does not match Repr-Digest, and leaves nothing in the bucket', async () => {
      const before = await inBucket()
      const bytes = randomBytes(9 * MiB)
      expect(codeOf(await begin('?1', bytes, { 'Repr-Digest': wrong }))).toEqual([400, 'checksum_mismatch'])
      await leavesNothing(before)
      await renew()
      expect((await begin('?1', bytes, { 'Repr-Digest': sha256(bytes) })).status).toBe(201)
    })
  })

  describe('alongside the other protocols', () => {
    it('returns 200 with Upload-Limit for OPTIONS, without a token', async () => {
      const reply = await call({ method: 'OPTIONS' })
      expect(reply).toMatchObject({
        status: 200,
        headers: {
          'upload-limit': expect.stringMatching(limits),
          'accept-patch': 'application/partial-upload',
        },
      })
    })

    it('cannot continue a TUS upload: HEAD returns 404, and other methods 409 without an offset', async () => {
      const tus = tusClient({ url: at.node.url, pipeId: at.site.pipe.id, token: at.token })
      const url = await tus.begin(11)
      expect((await head(url)).status).toBe(404)
      for (const reply of [
        await append(url, 0, '?1', Buffer.from('hello world')),
        await call({ method: 'DELETE', url }),
      ]) {
        expect(codeOf(reply)).toEqual([409, 'other_protocol'])
        expect(JSON.parse(reply.body).detail).toContain('created using TUS')
        expect(reply.headers['upload-offset']).toBeUndefined()
      }
      expect((await tus.patch(url, 0, Buffer.from('hello world'))).status).toBe(204)
    })

    it('cannot be continued by a TUS client', async () => {
      const url = (await begin('?0', Buffer.alloc(0), { 'Upload-Length': '5' })).headers.location!
      expect((await tusCall({ method: 'HEAD', url, token: at.token })).status).toBe(404)
      const tus = tusClient({ url: at.node.url, pipeId: at.site.pipe.id, token: at.token })
      const reply = await tus.patch(url, 0, Buffer.from('hello'))
      expect(codeOf(reply)).toEqual([409, 'other_protocol'])
      expect(JSON.parse(reply.body).detail).toContain('Resumable Uploads for HTTP')
      expect(reply.headers['upload-offset']).toBeUndefined()
      expect((await append(url, 0, '?1', Buffer.from('hello'))).status).toBe(201)
    })
  })
})
