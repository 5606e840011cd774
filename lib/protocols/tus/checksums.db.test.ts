import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { codeOf, fileIdOf } from '../../../test/support/tus-client.ts'
import { tusSite } from '../../../test/support/tus-site.ts'
import { crc32ToBase64 } from '../../platform/kernel/crc32.ts'

const { at, bytes, begin } = tusSite()

describe('checksums', () => {
  const digests: Record<string, string> = {
    ...Object.fromEntries(
      ['md5', 'sha1', 'sha256'].map((name) => [name, createHash(name).update(bytes).digest('base64')]),
    ),
    crc32: crc32ToBase64(crc32(bytes)),
  }

  it.each(Object.entries(digests))('accepts %s, in a header and in a trailer', async (name, digest) => {
    const inHeader = await begin()
    expect(
      (await at.client.patch(inHeader, 0, bytes, { 'Upload-Checksum': `${name} ${digest}` })).status,
    ).toBe(204)
    const inTrailer = await begin()
    expect(await at.client.patchWithTrailer(inTrailer, 0, bytes, `${name} ${digest}`)).toMatchObject({
      status: 204,
    })
    const reply = await at.client.create(1000, { 'Upload-Checksum': `${name} ${digest}` }, bytes)
    expect(reply.status).toBe(201)
  })

  it('returns 460 for a creation without bytes, unless the checksum is that of an empty body', async () => {
    const of = (empty: Buffer) => createHash('sha1').update(empty).digest('base64')
    const wrong = await at.client.create(1000, { 'Upload-Checksum': `sha1 ${of(bytes)}` })
    expect(codeOf(wrong)).toEqual([460, 'checksum_mismatch'])
    const right = { 'Upload-Checksum': `sha1 ${of(Buffer.alloc(0))}` }
    expect((await at.client.create(1000, right)).status).toBe(201)
  })

  it('returns 460 if the checksum does not match, and keeps the offset', async () => {
    const url = await begin()
    await at.client.patch(url, 0, bytes.subarray(0, 100))
    const reply = await at.client.patch(url, 100, bytes.subarray(100), {
      'Upload-Checksum': `sha1 ${digests.sha1}`,
    })
    expect(codeOf(reply)).toEqual([460, 'checksum_mismatch'])
    expect((await at.client.head(url)).headers['upload-offset']).toBe('100')
    const trailer = await at.client.patchWithTrailer(url, 100, bytes.subarray(100), `sha1 ${digests.sha1}`)
    expect(codeOf(trailer)).toEqual([460, 'checksum_mismatch'])
    expect((await at.client.head(url)).headers['upload-offset']).toBe('100')
    expect((await at.client.patch(url, 100, bytes.subarray(100))).status).toBe(204)
  })

  it('discards the parts of a body with a wrong checksum', async () => {
    const whole = randomBytes(40 * 1024 * 1024)
    const url = await begin(whole.length)
    const wrong = await at.client.patch(url, 0, whole.subarray(0, 30_000_000), {
      'Upload-Checksum': `md5 ${digests.md5}`,
    })
    expect(codeOf(wrong)).toEqual([460, 'checksum_mismatch'])
    expect((await at.client.head(url)).headers['upload-offset']).toBe('0')
    const right = createHash('md5').update(whole).digest('base64')
    expect((await at.client.patch(url, 0, whole, { 'Upload-Checksum': `md5 ${right}` })).status).toBe(204)
    expect((await at.site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  })

  it.each(['sha512 abcd', 'sha1', 'sha1 a b', 'sha1 ???'])('returns 400 for %s', async (header) => {
    const url = await begin()
    expect(codeOf(await at.client.patch(url, 0, bytes, { 'Upload-Checksum': header }))).toEqual([
      400,
      'invalid_header',
    ])
  })
})
