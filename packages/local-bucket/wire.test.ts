import { readdir, readFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { minutes } from '../../lib/platform/kernel/clock.ts'
import { crc32ToBase64 } from '../../lib/platform/kernel/crc32.ts'
import {
  BUCKET,
  type BucketInTest,
  disposeLocalBucket,
  openLocalBucket,
  READER,
  REGION,
} from '../../test/support/local-bucket.ts'
import {
  exchange,
  type RawRequest,
  sendPresigned,
  sendRaw,
  sha256,
  signedChunks,
  type Wire,
} from '../../test/support/raw-s3.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 8)

let bucket: BucketInTest
let wire: Wire
let nextKey = 0

beforeAll(async () => {
  bucket = await openLocalBucket({ clock: { now: () => NOW_MS } })
  wire = { endpoint: bucket.endpoint, region: REGION, keys: READER, nowMs: NOW_MS }
})
afterAll(async () => {
  await disposeLocalBucket(bucket)
})

const freshPath = () => `/${BUCKET}/key-${nextKey++}`
const put = (raw: Partial<RawRequest>) =>
  sendRaw(wire, { method: 'PUT', path: freshPath(), body: 'hello', ...raw })

async function contentAt(path: string): Promise<string> {
  return readFile(join(bucket.directory, path), 'utf8').catch(() => 'nothing')
}

describe('the signature', () => {
  it('covers method, path, query and headers, so that a change to any of them is refused', async () => {
    const path = freshPath()
    const answer = await put({ path, headers: { 'content-type': 'text/plain' } })
    expect(answer).toMatchObject({ status: 200, headers: { 'x-amz-request-id': expect.any(String) } })
    for (const [name, value] of [
      ['content-type', 'text/html'],
      ['x-amz-content-sha256', sha256('other')],
    ] as const) {
      const unsignedHeaders = { [name]: value }
      const changed = await put({ path, headers: { 'content-type': 'text/plain' }, unsignedHeaders })
      expect(changed).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' })
    }
  })

  it('covers every x-amz- header', async () => {
    const answer = await put({ unsignedHeaders: { 'x-amz-meta-added': 'on the way' } })
    expect(answer).toMatchObject({ status: 403, code: 'AccessDenied' })
    expect(answer.body).toContain('<HeadersNotSigned>x-amz-meta-added</HeadersNotSigned>')
  })

  it('expires after 15 minutes', async () => {
    const at = (nowMs: number) => sendRaw({ ...wire, nowMs }, { method: 'PUT', path: freshPath() })
    expect(await at(NOW_MS - minutes(15))).toMatchObject({ status: 200 })
    expect(await at(NOW_MS - minutes(15) - 1000)).toMatchObject({ status: 403, code: 'RequestTimeTooSkewed' })
    expect(await at(NOW_MS + minutes(15) + 1000)).toMatchObject({ status: 403, code: 'RequestTimeTooSkewed' })
  })

  it.each([
    ['Basic abc', 'AuthorizationHeaderMalformed'],
    ['AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=abc', 'AuthorizationHeaderMalformed'],
    [
      `AWS4-HMAC-SHA256 Credential=x/20261121/eu/s3/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}`,
      'AccessDenied',
    ],
  ])('is refused in the malformed header %j', async (authorization, code) => {
    const answer = await exchange(wire, { method: 'GET', path: '/demo/a' }, { host: 'x', authorization })
    expect(answer.code).toBe(code)
  })

  it('requires a known declaration of how the body is sent', async () => {
    expect(await put({ payload: 'SOMEHOW' })).toMatchObject({ status: 400, code: 'InvalidArgument' })
  })
})

describe('presigned URLs', () => {
  it('allow put and get until they expire', async () => {
    const path = freshPath()
    const raw = {
      method: 'PUT',
      path,
      body: 'by link',
      headers: { 'x-amz-meta-from': 'a link' },
      expiresIn: 60,
    }
    expect(await sendPresigned(wire, raw)).toMatchObject({ status: 200 })
    const got = await sendPresigned(wire, { method: 'GET', path, expiresIn: 60 })
    expect(got).toMatchObject({ status: 200, body: 'by link', headers: { 'x-amz-meta-from': 'a link' } })
    const early = await sendPresigned(
      { ...wire, nowMs: NOW_MS - 59_000 },
      { method: 'GET', path, expiresIn: 60 },
    )
    expect(early.status).toBe(200)
    const late = await sendPresigned(
      { ...wire, nowMs: NOW_MS - 61_000 },
      { method: 'GET', path, expiresIn: 60 },
    )
    expect(late).toMatchObject({ status: 403, code: 'AccessDenied' })
    expect(late.body).toContain('Request has expired')
  })

  it('cannot be modified', async () => {
    const raw = { method: 'GET', path: freshPath(), expiresIn: 60 }
    for (const [name, value] of [
      ['X-Amz-Expires', '600'],
      ['response-content-type', 'text/html'],
    ] as const) {
      const answer = await sendPresigned(wire, raw, (query) => {
        query[name] = value
      })
      expect(answer).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' })
    }
  })

  it('are valid for at most a week', async () => {
    const answer = await sendPresigned(wire, { method: 'GET', path: freshPath(), expiresIn: 60 }, (query) => {
      query['X-Amz-Expires'] = '604801'
    })
    expect(answer).toMatchObject({ status: 400, code: 'AuthorizationQueryParametersError' })
  })
})

describe('a body', () => {
  it('must match its SHA-256, if it has one', async () => {
    const path = freshPath()
    expect(await put({ path, payload: sha256('other') })).toMatchObject({
      status: 400,
      code: 'XAmzContentSHA256Mismatch',
    })
    expect(await contentAt(path)).toBe('nothing')
    expect(await put({ path })).toMatchObject({ status: 200 })
    expect(await contentAt(path)).toBe('hello')
  })

  it('must declare its length in advance', async () => {
    const answer = await put({ unsignedHeaders: { 'transfer-encoding': 'chunked' } })
    expect(answer).toMatchObject({ status: 411, code: 'MissingContentLength' })
  })

  it('is refused before it is sent if it is larger than 5 GiB', async () => {
    const headers = { 'content-length': String(5 * 2 ** 30 + 1), expect: '100-continue' }
    const answer = await put({ unsignedHeaders: headers, body: '' })
    expect(answer).toMatchObject({ status: 400, code: 'EntityTooLarge', headers: { connection: 'close' } })
  })

  it('leaves the connection usable for the next request if it is refused', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const refused = await put({ agent, path: '/no-such-bucket/a', body: Buffer.alloc(2 ** 20) })
    expect(refused).toMatchObject({ code: 'NoSuchBucket', headers: { connection: 'keep-alive' } })
    expect(await put({ agent })).toMatchObject({ status: 200 })
    agent.destroy()
  })

  it('is refused if it has a checksum that the bucket does not verify', async () => {
    const answer = await put({
      headers: { 'x-amz-checksum-sha256': 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=' },
    })
    expect(answer).toMatchObject({ status: 501, code: 'NotImplemented' })
  })
})

describe('a body in signed chunks', () => {
  const payload = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
  const headers = { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': '11' }
  const chunked = (change: (body: string) => string) => (seed: string) =>
    change(signedChunks(wire, seed, ['hello ', 'world']))

  it('is assembled', async () => {
    const path = freshPath()
    const answer = await put({ path, payload, headers, body: chunked((body) => body) })
    expect(answer).toMatchObject({ status: 200 })
    expect(await contentAt(path)).toBe('hello world')
  })

  it.each<[string, string, (body: string) => string]>([
    ['a changed byte', 'SignatureDoesNotMatch', (body) => body.replace('world', 'w0rld')],
    ['an omitted chunk', 'SignatureDoesNotMatch', (body) => body.replace(/^6;.*\r\nhello \r\n/, '')],
    ['no signatures', 'SignatureDoesNotMatch', (body) => body.replaceAll(/;chunk-signature=\w+/g, '')],
    ['no end', 'IncompleteBody', (body) => body.slice(0, body.lastIndexOf('0;'))],
    ['more bytes than declared', 'IncompleteBody', (body) => body.replace(/^6;/, '6000;')],
    ['an invalid length', 'IncompleteBody', (body) => body.replace(/^6;/, 'x;')],
  ])('is refused with %s: %s', async (_, code, change) => {
    const path = freshPath()
    expect(await put({ path, payload, headers, body: chunked(change) })).toMatchObject({ code })
    expect(await contentAt(path)).toBe('nothing')
  })

  describe('with a signed trailer', () => {
    const trailing = { ...headers, 'x-amz-trailer': 'x-amz-checksum-crc32' }
    const withTrailer = (text: string, change = (body: string) => body): Partial<RawRequest> => ({
      payload: `${payload}-TRAILER`,
      headers: trailing,
      body: (seed) => {
        const trailer = { name: 'x-amz-checksum-crc32', value: crc32ToBase64(crc32(text)) }
        return change(signedChunks(wire, seed, ['hello ', 'world'], trailer))
      },
    })

    it('is assembled', async () => {
      expect(await put(withTrailer('hello world'))).toMatchObject({ status: 200 })
    })

    it('must match its checksum', async () => {
      expect(await put(withTrailer('hello moon'))).toMatchObject({ status: 400, code: 'BadDigest' })
    })

    it('must have the signed trailer', async () => {
      const other = crc32ToBase64(crc32('hello moon'))
      const changed = (body: string) => body.replace(/crc32:[^\r]+/, `crc32:${other}`)
      expect(await put(withTrailer('hello world', changed))).toMatchObject({ code: 'SignatureDoesNotMatch' })
    })
  })
})

describe('a body in unsigned chunks with a trailer', () => {
  const unsigned = (body: string): Partial<RawRequest> => ({
    payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    headers: {
      'content-encoding': 'aws-chunked',
      'x-amz-decoded-content-length': '5',
      'x-amz-trailer': 'x-amz-checksum-crc32',
    },
    body,
  })
  const trailer = (text: string) => `x-amz-checksum-crc32:${crc32ToBase64(crc32(text))}\r\n\r\n`

  it('must match the checksum in its trailer', async () => {
    expect(await put(unsigned(`5\r\nhello\r\n0\r\n${trailer('hello')}`))).toMatchObject({ status: 200 })
    expect(await put(unsigned(`5\r\nhello\r\n0\r\n${trailer('other')}`))).toMatchObject({ code: 'BadDigest' })
  })

  it('must have the announced trailer', async () => {
    expect(await put(unsigned('5\r\nhello\r\n0\r\n\r\n'))).toMatchObject({
      status: 400,
      code: 'InvalidRequest',
    })
  })
})

describe('addresses', () => {
  it('can name the bucket in the host', async () => {
    const headers = { host: `${BUCKET}.localhost:${bucket.port}` }
    expect(await put({ path: '/by-host', headers })).toMatchObject({ status: 200 })
    expect(await contentAt(`${BUCKET}/by-host`)).toBe('hello')
  })

  it.each([
    ['/demo/../../outside', 'demo/%2E%2E/%2E%2E/outside'],
    ['/demo/%2E%2E%2Foutside', 'demo/%2E%2E/outside'],
    ['/demo//outside', 'demo/%/outside'],
    ['/demo/nul%00byte', 'demo/nul%00byte'],
  ])('stay in their bucket with the path %s', async (path, file) => {
    expect(await put({ path })).toMatchObject({ status: 200 })
    expect(await contentAt(file)).toBe('hello')
    expect((await readdir(bucket.directory)).sort()).toEqual(['.sluice', BUCKET])
  })

  it('cannot name a bucket that starts with a dot', async () => {
    for (const path of ['/../a', '/.sluice/a', '/./a']) {
      expect(await put({ path })).toMatchObject({ status: 404, code: 'NoSuchBucket' })
    }
  })

  it('must be correctly encoded', async () => {
    expect(await put({ path: '/demo/%ff' })).toMatchObject({ status: 400, code: 'InvalidURI' })
  })

  it.each([
    ['PUT', { acl: '' }],
    ['GET', { versionId: '1' }],
    ['PATCH', {}],
  ])('are refused if the operation is not implemented: %s %j', async (method, query) => {
    const answer = await sendRaw(wire, { method, path: '/demo/a', query })
    expect(answer).toMatchObject({ status: 501, code: 'NotImplemented' })
  })

  it('are refused with a condition that would be ignored', async () => {
    expect(await put({ headers: { 'if-match': '"abc"' } })).toMatchObject({ code: 'NotImplemented' })
  })
})
