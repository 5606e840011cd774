import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import {
  fileIdOf,
  OFFSET_STREAM,
  type TusClient,
  tusCall,
  tusClient,
} from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { crc32ToBase64 } from '../../platform/kernel/crc32.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { createPipe } from '../../workspace/pipes/create-pipe.ts'
import { pipeInput } from '../../workspace/pipes/pipe.ts'

let database: DatabaseHandle
let site: Site
let node: Awaited<ReturnType<typeof serveUploads>>
let client: TusClient
let token: string

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  node = await serveUploads(site.runtime)
  token = await site.token()
  client = tusClient({ url: node.url, pipeId: site.pipe.id, token })
})
afterAll(async () => {
  await node?.close()
  await site?.close()
  await database?.close()
})

/** Gets a new token once the clock has passed the old token's expiry. */
const renew = async () => {
  token = await site.token()
  client = tusClient({ url: node.url, pipeId: site.pipe.id, token })
}
const codeOf = ({ status, body }: { status: number; body: string }) => [status, JSON.parse(body).code]
const bytes = randomBytes(1000)
const begin = async (length: number | null = 1000, headers: Record<string, string> = {}) =>
  await client.begin(length, headers)
const otherPipe = async (fields: Record<string, unknown>) => {
  const input = { name: 'Other', dataStoreId: site.dataStore.id, source: { http: true }, ...fields }
  const pipe = await createPipe(site.runtime, site.actor, parseInput(pipeInput, input))
  const token = await site.token({ pipeId: pipe.id })
  return tusClient({ url: node.url, pipeId: pipe.id, token })
}

describe('version and method', () => {
  it('returns 412 with Tus-Version for another version or none', async () => {
    const reply = await tusCall({
      method: 'PATCH',
      url: client.collection,
      token,
      headers: { 'Tus-Resumable': '0.2.2' },
    })
    expect(codeOf(reply)).toEqual([412, 'version_not_supported'])
    expect(reply.headers).toMatchObject({ 'tus-version': '1.0.0', 'tus-resumable': '1.0.0' })
  })

  it('returns 405 for GET, and for POST to an upload', async () => {
    const url = await begin()
    expect(codeOf(await tusCall({ method: 'GET', url, token }))).toEqual([405, 'method_not_allowed'])
    const post = await tusCall({ method: 'POST', url, token, headers: { 'Upload-Length': '1' } })
    expect(codeOf(post)).toEqual([405, 'method_not_allowed'])
  })

  it('returns 404 for any other address', async () => {
    const reply = await tusCall({ method: 'HEAD', url: `${node.url}/pipes/nonsense/files/`, token })
    expect(reply.status).toBe(404)
  })

  it('honors X-HTTP-Method-Override', async () => {
    const url = await begin()
    const headers = { 'X-HTTP-Method-Override': 'PATCH', 'Upload-Offset': '0', ...OFFSET_STREAM }
    expect(await tusCall({ method: 'POST', url, token, headers, body: bytes })).toMatchObject({ status: 204 })
  })
})

describe('OPTIONS and CORS', () => {
  it('returns what the Pipe supports, without a token', async () => {
    const reply = await tusCall({ method: 'OPTIONS', url: client.collection })
    expect(reply.status).toBe(200)
    expect(reply.headers['content-length']).toBe('0')
    expect(reply.headers['tus-resumable']).toBeUndefined()
    expect(reply.headers).toMatchObject({
      'tus-version': '1.0.0',
      'tus-extension':
        'creation,creation-with-upload,creation-defer-length,termination,expiration,checksum,checksum-trailer',
      'tus-checksum-algorithm': 'md5,sha1,sha256,crc32',
    })
    expect(Number(reply.headers['tus-max-size'])).toBeGreaterThan(2 ** 40)
  })

  it('allows any origin for a day, and exposes the headers that pages must read', async () => {
    const headers = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'PATCH' }
    const reply = await tusCall({ method: 'OPTIONS', url: client.collection, headers })
    expect(reply.status).toBe(200)
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': 'https://a.example',
      'access-control-max-age': '86400',
      'access-control-allow-methods': 'POST, PUT, HEAD, PATCH, DELETE, OPTIONS',
    })
    const error = await tusCall({
      method: 'HEAD',
      url: client.collection,
      headers: { Origin: 'https://a.example' },
    })
    expect(error.headers['access-control-allow-origin']).toBe('https://a.example')
    for (const name of [
      'Location',
      'Upload-Offset',
      'Upload-Expires',
      'Retry-After',
      'X-Request-Id',
      'Tus-Max-Size',
    ])
      expect(error.headers['access-control-expose-headers']).toContain(name)
  })

  it('returns 403 for an origin that the Pipe does not list', async () => {
    const listed = await otherPipe({ allowedOrigins: ['https://mine.example'] })
    const headers = (origin: string) => ({ Origin: origin, 'Access-Control-Request-Method': 'POST' })
    const ask = (origin: string) =>
      tusCall({ method: 'OPTIONS', url: listed.collection, headers: headers(origin) })
    expect((await ask('https://mine.example')).headers['access-control-allow-origin']).toBe(
      'https://mine.example',
    )
    expect((await ask('https://evil.example')).headers['access-control-allow-origin']).toBeUndefined()
    expect(codeOf(await listed.create(1, { Origin: 'https://evil.example' }))).toEqual([
      403,
      'origin_not_allowed',
    ])
    expect((await listed.create(1, { Origin: 'https://mine.example' })).status).toBe(201)
  })

  it("accepts uploads from Sluice's own pages, whatever origins the Pipe lists", async () => {
    const listed = await otherPipe({ allowedOrigins: ['https://mine.example'] })
    const { origin } = new URL(listed.collection)
    const headers = { Origin: origin, 'Access-Control-Request-Method': 'POST' }
    const asked = await tusCall({ method: 'OPTIONS', url: listed.collection, headers })
    expect(asked.headers['access-control-allow-origin']).toBe('*')
    const created = await listed.create(3, { Origin: origin })
    expect(created.status).toBe(201)
    expect(
      (await listed.patch(created.headers.location!, 0, Buffer.from('abc'), { Origin: origin })).status,
    ).toBe(204)
  })
})

describe('tokens', () => {
  const create = (token: string | undefined) =>
    tusCall({ method: 'POST', url: client.collection, token, headers: { 'Upload-Length': '5' } })

  it("returns 401 without a token, with an unknown token, or with another Pipe's token", async () => {
    expect(codeOf(await create(undefined))).toEqual([401, 'token_missing'])
    const unknown = await create(`tmp_${'a'.repeat(43)}`)
    expect(codeOf(unknown)).toEqual([401, 'token_invalid'])
    expect(unknown.headers['www-authenticate']).toBe('Bearer')
    const other = await otherPipe({})
    const reply = await tusCall({
      method: 'POST',
      url: other.collection,
      token,
      headers: { 'Upload-Length': '5' },
    })
    expect(codeOf(reply)).toEqual([401, 'token_invalid'])
  })

  it('returns 401 sender_token_exposed for a Sender token, and records when and where', async () => {
    const reply = await tusCall({
      method: 'POST',
      url: client.collection,
      token: site.sender.token,
      headers: { 'Upload-Length': '5', Origin: 'https://leaky.example' },
    })
    expect(codeOf(reply)).toEqual([401, 'sender_token_exposed'])
    const [row] = (await database.db.execute(
      sql`select exposed_at is not null as seen, exposed_origin from senders where id = ${site.sender.id}::uuid`,
    )) as unknown as [object]
    expect(row).toMatchObject({ seen: true, exposed_origin: 'https://leaky.example' })
  })

  it('does not let an expired token create uploads, but lets it finish those it started', async () => {
    const short = await site.client(node, { expiresIn: 60 })
    const url = await short.begin(1000)
    site.clock.advance(hours(2))
    expect(codeOf(await short.create(5))).toEqual([401, 'token_expired'])
    expect((await short.head(url)).status).toBe(200)
    expect((await short.patch(url, 0, bytes)).status).toBe(204)
    await renew()
  })

  it('lets a token with the same subject continue the upload, even after it expires, but returns 404 for another subject', async () => {
    const of = (input: object) => site.client(node, input as never)
    const url = (await (await of({ subject: 'ann' })).create(1000)).headers.location!
    const stranger = await of({ subject: 'bob' })
    expect((await stranger.head(url)).status).toBe(404)
    expect(codeOf(await stranger.patch(url, 0, bytes))).toEqual([404, 'upload_not_found'])
    const second = await of({ subject: 'ann', expiresIn: 60 })
    expect((await second.patch(url, 0, bytes.subarray(0, 400))).status).toBe(204)
    const third = await of({ subject: 'ann', expiresIn: 60 })
    site.clock.advance(hours(2))
    expect((await second.patch(url, 400, bytes.subarray(400, 500))).status).toBe(204)
    expect((await third.head(url)).status).toBe(401)
    await renew()
  })

  it('returns 401 token_revoked as soon as the token or its Sender is revoked', async () => {
    const revoked = await site.client(node)
    const url = await revoked.begin(5)
    await database.db.execute(sql`update tokens set revoked_at = now() where id =
      (select token_id from files where id = ${fileIdOf(url)}::uuid)`)
    expect(codeOf(await revoked.create(5))).toEqual([401, 'token_revoked'])
    expect((await revoked.head(url)).status).toBe(401)
  })

  it('returns 403 once a token has created its maximum number of files, and 413 above its size limit', async () => {
    const input = { maxFiles: 2, maxBytes: 10 }
    const small = await site.client(node, input)
    const big = await small.create(11)
    expect(codeOf(big)).toEqual([413, 'file_too_large'])
    expect(big.headers['tus-max-size']).toBe('10')
    // The lengths differ, because a repeated creation would replace the first one.
    const replies = await Promise.all([1, 2, 3, 4].map((length) => small.create(length)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403])
  })
})

describe('PATCH', () => {
  it('returns 415 without the media type of an offset stream, and 400 without an offset', async () => {
    const url = await begin()
    const send = (headers: Record<string, string>) =>
      tusCall({ method: 'PATCH', url, token, headers, body: bytes })
    expect(codeOf(await send({ 'Upload-Offset': '0' }))).toEqual([415, 'unsupported_media_type'])
    expect(codeOf(await send(OFFSET_STREAM))).toEqual([400, 'invalid_header'])
  })

  it('returns 400 for a transfer coding that would be stored as received', async () => {
    const url = await begin()
    const headers = { 'Transfer-Encoding': 'gzip, chunked' }
    expect(codeOf(await client.patch(url, 0, bytes, headers))).toEqual([400, 'invalid_header'])
    const chunked = { 'Transfer-Encoding': 'Chunked' }
    expect((await client.patch(url, 0, bytes, chunked)).status).toBe(204)
  })

  it('returns 409 with the confirmed offset if the offset is wrong', async () => {
    const url = await begin()
    await client.patch(url, 0, bytes.subarray(0, 10))
    const reply = await client.patch(url, 0, bytes)
    expect(codeOf(reply)).toEqual([409, 'offset_conflict'])
    expect(reply.headers['upload-offset']).toBe('10')
  })

  it('returns 413 if the body exceeds the length, and keeps nothing', async () => {
    const url = await begin()
    expect(codeOf(await client.patch(url, 0, randomBytes(1001)))).toEqual([413, 'file_too_large'])
    const chunked = await tusCall({
      method: 'PATCH',
      url,
      token,
      headers: { 'Upload-Offset': '0', 'Transfer-Encoding': 'chunked', ...OFFSET_STREAM },
      body: undefined,
    })
    expect(chunked.status).toBe(204)
    expect((await client.head(url)).headers['upload-offset']).toBe('0')
  })

  it('returns 204 for an empty PATCH in the middle and at the end', async () => {
    const url = await begin()
    await client.patch(url, 0, bytes.subarray(0, 600))
    expect(await client.patch(url, 600, Buffer.alloc(0))).toMatchObject({
      status: 204,
      headers: { 'upload-offset': '600' },
    })
    await client.patch(url, 600, bytes.subarray(600))
    expect(await client.patch(url, 1000, Buffer.alloc(0))).toMatchObject({
      status: 204,
      headers: { 'upload-offset': '1000' },
    })
    expect(codeOf(await client.patch(url, 1000, bytes))).toEqual([413, 'file_too_large'])
  })

  it('lets the client declare a deferred length only once', async () => {
    const url = await begin(null)
    await client.patch(url, 0, bytes.subarray(0, 500), { 'Upload-Length': '1000' })
    const reply = await client.patch(url, 500, bytes.subarray(500), { 'Upload-Length': '2000' })
    expect(codeOf(reply)).toEqual([400, 'invalid_header'])
    expect((await client.head(url)).headers).toMatchObject({
      'upload-length': '1000',
      'upload-offset': '500',
    })
  })
})

describe('checksums', () => {
  const digests: Record<string, string> = {
    ...Object.fromEntries(
      ['md5', 'sha1', 'sha256'].map((name) => [name, createHash(name).update(bytes).digest('base64')]),
    ),
    crc32: crc32ToBase64(crc32(bytes)),
  }

  it.each(Object.entries(digests))('accepts %s, in a header and in a trailer', async (name, digest) => {
    const inHeader = await begin()
    expect((await client.patch(inHeader, 0, bytes, { 'Upload-Checksum': `${name} ${digest}` })).status).toBe(
      204,
    )
    const inTrailer = await begin()
    expect(await client.patchWithTrailer(inTrailer, 0, bytes, `${name} ${digest}`)).toMatchObject({
      status: 204,
    })
    const reply = await client.create(1000, { 'Upload-Checksum': `${name} ${digest}` }, bytes)
    expect(reply.status).toBe(201)
  })

  it('returns 460 for a creation without bytes, unless the checksum is that of an empty body', async () => {
    const of = (empty: Buffer) => createHash('sha1').update(empty).digest('base64')
    const wrong = await client.create(1000, { 'Upload-Checksum': `sha1 ${of(bytes)}` })
    expect(codeOf(wrong)).toEqual([460, 'checksum_mismatch'])
    const right = { 'Upload-Checksum': `sha1 ${of(Buffer.alloc(0))}` }
    expect((await client.create(1000, right)).status).toBe(201)
  })

  it('returns 460 if the checksum does not match, and keeps the offset', async () => {
    const url = await begin()
    await client.patch(url, 0, bytes.subarray(0, 100))
    const reply = await client.patch(url, 100, bytes.subarray(100), {
      'Upload-Checksum': `sha1 ${digests.sha1}`,
    })
    expect(codeOf(reply)).toEqual([460, 'checksum_mismatch'])
    expect((await client.head(url)).headers['upload-offset']).toBe('100')
    const trailer = await client.patchWithTrailer(url, 100, bytes.subarray(100), `sha1 ${digests.sha1}`)
    expect(codeOf(trailer)).toEqual([460, 'checksum_mismatch'])
    expect((await client.head(url)).headers['upload-offset']).toBe('100')
    expect((await client.patch(url, 100, bytes.subarray(100))).status).toBe(204)
  })

  it('discards the parts of a body with a wrong checksum', async () => {
    const whole = randomBytes(40 * 1024 * 1024)
    const url = await begin(whole.length)
    const wrong = await client.patch(url, 0, whole.subarray(0, 30_000_000), {
      'Upload-Checksum': `md5 ${digests.md5}`,
    })
    expect(codeOf(wrong)).toEqual([460, 'checksum_mismatch'])
    expect((await client.head(url)).headers['upload-offset']).toBe('0')
    const right = createHash('md5').update(whole).digest('base64')
    expect((await client.patch(url, 0, whole, { 'Upload-Checksum': `md5 ${right}` })).status).toBe(204)
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  })

  it.each(['sha512 abcd', 'sha1', 'sha1 a b', 'sha1 ???'])('returns 400 for %s', async (header) => {
    const url = await begin()
    expect(codeOf(await client.patch(url, 0, bytes, { 'Upload-Checksum': header }))).toEqual([
      400,
      'invalid_header',
    ])
  })
})
