import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { open, requestHead } from '../../../test/support/raw-http.ts'
import { MiB, resumableSite, TYPES } from '../../../test/support/resumable-site.ts'
import { fileIdOf } from '../../../test/support/tus-client.ts'
import { serveUploads } from '../../../test/support/upload-site.ts'
import { rows } from '../../platform/db/database.ts'
import { days, hours, minutes, seconds } from '../../platform/kernel/clock.ts'
import { expireUploads } from '../../recovery/upload-sweeps.ts'
import { drainUploads } from '../../uploads/upload-context.ts'

const limits = /^max-size=\d+, min-size=0, max-age=\d+$/

describeWithDatabase('Creations using Resumable Uploads for HTTP', (database) => {
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

  describe('creation', () => {
    it.each([3, 6, 8, 9, 10])(
      'sends clients of interop version %i a 104 with the address, the limits and the version',
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

    it('removes characters from a name that steer terminals or reverse the text around them', async () => {
      const reply = await call({
        method: 'POST',
        url: at.collection,
        body: Buffer.from('hello'),
        headers: {
          ...version(10),
          'Upload-Complete': '?1',
          'Content-Disposition':
            "attachment; filename*=UTF-8''a%1B%5D0%3BPWNED%07%0D%0A%C2%9Bb%E2%80%AE%E2%80%ADtxt.exe",
        },
      })
      expect(reply.status).toBe(201)
      expect((await newest()).filename).toBe('a]0;PWNEDbtxt.exe')
    })

    it('returns 400 for any offset except 0', async () => {
      const beginAt = (offset: string) =>
        call({
          method: 'POST',
          url: at.collection,
          body: Buffer.from('hello'),
          headers: { ...version(10), 'Upload-Complete': '?1', 'Upload-Offset': offset },
        })
      expect(codeOf(await beginAt('5'))).toEqual([400, 'invalid_header'])
      expect((await beginAt('0')).status).toBe(201)
    })

    it('sends a 104 even if the entire body has already arrived', async () => {
      const url = new URL(at.collection)
      await using connection = open(url)
      const headers = { Authorization: `Bearer ${at.token}`, ...version(10), 'Upload-Complete': '?1' }
      connection.write(`${requestHead('POST', url, { ...headers, 'Content-Length': 5 })}hello`)
      expect(await connection.answer('POST')).toMatchObject({ status: 104 })
      expect(await connection.answer('POST')).toMatchObject({ status: 201 })
    })

    it.each([
      ['an unknown version', version(7)],
      ['a malformed version', { 'Upload-Draft-Interop-Version': 'ten' }],
    ])('starts an ordinary upload, without a 104, for clients that send %s', async (_, headers) => {
      const upload = opened({ ...headers, 'Upload-Complete': '?1', 'Content-Length': '5' })
      await upload.write(Buffer.from('hello'))
      expect((await upload.reply).status).toBe(201)
      expect(upload.interim).toEqual([])
    })

    it('sends no 104 if a proxy may not pass it on, and still lets the client continue', async () => {
      const url = `${at.behindProxy.url}/pipes/${at.site.pipe.id}/files/`
      const upload = opened({ 'Upload-Complete': '?0', 'Content-Length': '5' }, url)
      await upload.write(Buffer.from('hello'))
      const { headers } = await upload.reply
      expect(upload.interim).toEqual([])
      expect((await append(headers.location!, 5, '?1', Buffer.from(' world'))).status).toBe(201)
      expect(await objectOf(headers.location!)).toEqual(Buffer.from('hello world'))
    })

    it.each(['POST', 'PUT'])(
      'of an entire file by %s returns 201 with a description of the file',
      async (method) => {
        const bytes = randomBytes(9 * MiB)
        const url = method === 'PUT' ? `${at.collection}film.bin` : at.collection
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
      },
    )

    it('of part of a file returns 201 with its address, its limits and Upload-Complete: ?0', async () => {
      const reply = await begin('?0', Buffer.from('hello'), { 'Upload-Length': '11' })
      expect(reply).toMatchObject({
        status: 201,
        headers: {
          location: expect.stringContaining(at.collection),
          'upload-complete': '?0',
          'upload-offset': '5',
          'upload-limit': expect.stringMatching(limits),
        },
      })
      expect(await head(reply.headers.location!)).toMatchObject({ headers: { 'upload-length': '11' } })
    })

    it('accepts a request without any bytes yet, and an empty file', async () => {
      const careful = await begin('?0', Buffer.alloc(0))
      expect(careful).toMatchObject({
        status: 201,
        headers: { 'upload-complete': '?0', 'upload-offset': '0' },
      })
      const empty = await begin('?1', Buffer.alloc(0))
      expect(empty).toMatchObject({ status: 201, headers: { 'upload-complete': '?1' } })
      expect(await objectOf(empty.headers.location!)).toHaveLength(0)
    })

    it('returns 400 if there are no bytes yet and Content-Digest is not that of no bytes', async () => {
      const digestOf = (text: string) => `sha-256=:${createHash('sha256').update(text).digest('base64')}:`
      const wrong = await begin('?0', Buffer.alloc(0), { 'Content-Digest': digestOf('hello') })
      expect(codeOf(wrong)).toEqual([400, 'checksum_mismatch'])
      const right = await begin('?0', Buffer.alloc(0), { 'Content-Digest': digestOf('') })
      expect(right.status).toBe(201)
    })

    it('returns 400 if Upload-Length does not match the end of the body', async () => {
      const reply = await begin('?1', Buffer.from('hello'), { 'Upload-Length': '6' })
      expect(problemOf(reply)).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      expect(reply.headers['upload-complete']).toBe('?0')
    })

    it('returns 400 and fails the upload if a body without a 104 ends before Upload-Length', async () => {
      const headers = { ...version(99), 'Upload-Length': '9', 'Transfer-Encoding': 'chunked' }
      const reply = await begin('?1', Buffer.from('hello'), headers)
      expect(problemOf(reply)).toMatchObject({ status: 400, type: `${TYPES}inconsistent-upload-length` })
      expect(await newest()).toMatchObject({ status: 'failed', failureReason: 'interrupted' })
    })

    it('treats a malformed field as absent', async () => {
      const headers = { 'Upload-Complete': 'yes', 'Upload-Length': '-5' }
      const reply = await call({
        method: 'PUT',
        url: `${at.collection}odd`,
        body: Buffer.from('hello'),
        headers,
      })
      expect(reply.status).toBe(201)
      expect(reply.headers['upload-complete']).toBe('?1')
    })

    it('returns 413 with Upload-Limit if the length exceeds the limit', async () => {
      at.token = await at.site.token({ maxBytes: 10 })
      const reply = await begin('?0', Buffer.alloc(0), { 'Upload-Length': '11' })
      expect(reply).toMatchObject({ status: 413, headers: { 'upload-limit': 'max-size=10' } })
      expect(reply.headers['tus-max-size']).toBeUndefined()
    })

    it('returns the offset in further 104 responses, without an address', async () => {
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

  describe('an interrupted creation', () => {
    const begun = async (sent: Buffer, length: number) => {
      const upload = opened({ 'Upload-Complete': '?1', 'Content-Length': String(length) })
      await expect.poll(() => upload.interim).toHaveLength(1)
      await upload.write(sent)
      const url = upload.interim[0]!.headers.location!
      const look = sql`select coalesce(sum(octet_length(bytes)), 0)::int as bytes from upload_tails where file_id = ${fileIdOf(url)}::uuid`
      return { upload, url, tail: async () => (await rows<{ bytes: number }>(database().db, look))[0]!.bytes }
    }

    it('keeps the received bytes after its 104, is not complete, and continues from the exact byte', async () => {
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

    it('leaves nothing behind after an hour if its 104 may not have arrived', async () => {
      const before = await inBucket()
      const { upload, tail } = await begun(randomBytes(9 * MiB), 20 * MiB)
      await expect.poll(async () => (await newest()).offset).toBe(8 * MiB)
      upload.cut()
      const soon = at.site.clock.now() + hours(2)
      await expect.poll(async () => Date.parse((await newest()).expiresAt)).toBeLessThan(soon)
      expect(await tail()).toBeGreaterThan(0)
      at.site.clock.advance(minutes(61))
      await expireUploads(at.node.context)
      expect(await newest()).toMatchObject({ status: 'expired' })
      expect(await tail()).toBe(0)
      await leavesNothing(before)
    })

    it('is kept as long as any other upload if the client continued it or had time to receive its 104', async () => {
      const quick = await begun(randomBytes(1000), 5000)
      quick.upload.cut()
      const { headers } = await head(quick.url)
      await append(quick.url, headers['upload-offset']!, '?0', randomBytes(1000))
      const slow = await begun(randomBytes(1000), 5000)
      at.site.clock.advance(seconds(11))
      slow.upload.cut()
      await expect.poll(slow.tail).toBeGreaterThan(0)
      at.site.clock.advance(days(1))
      await expireUploads(at.node.context)
      await renew()
      for (const { url } of [quick, slow]) expect((await head(url)).status).toBe(204)
    })

    it('without a 104, returns 503 and asks for the file again if the node is stopping', async () => {
      const stopping = await serveUploads(at.site.runtime)
      const url = `${stopping.url}/pipes/${at.site.pipe.id}/files/`
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

    it.each(['?0', '?1'])('without a 104, fails the upload (Upload-Complete: %s)', async (complete) => {
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
})
