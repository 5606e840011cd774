import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type Answer, open, requestHead } from '../../test/support/raw-http.ts'
import { targetOf } from '../../test/support/target.ts'
import { newTus, OCTETS, type Tus } from '../../test/support/tus.ts'

let tus: Tus
beforeAll(async () => {
  tus = await newTus(targetOf(inject('demo')))
})

function checksum(algorithm: string, bytes: string): string {
  if (algorithm !== 'crc32') return `${algorithm} ${createHash(algorithm).update(bytes).digest('base64')}`
  const value = Buffer.alloc(4)
  value.writeUInt32BE(crc32(bytes))
  return `crc32 ${value.toString('base64')}`
}

describe('checksum', () => {
  it('is announced with lowercase algorithm names, including sha1', async () => {
    const { headers } = await tus.options()
    expect(headers['tus-extension']!.split(',')).toContain('checksum')
    expect(headers['tus-checksum-algorithm']!.split(',')).toContain('sha1')
    expect(headers['tus-checksum-algorithm']).toMatch(/^[\x21-\x7e]+$/)
    expect(headers['tus-checksum-algorithm']).not.toMatch(/[A-Z]/)
  })

  it.each(['md5', 'sha1', 'sha256', 'crc32'])('returns 204 if it matches: %s', async (algorithm) => {
    const address = await tus.create(5)
    const fields = { 'Upload-Checksum': checksum(algorithm, 'hello') }
    const answer = await tus.patch(address, 0, 'hello', fields)
    expect(answer).toMatchObject({ status: 204, headers: { 'upload-offset': '5' } })
  })

  it.each(['md5', 'sha1', 'sha256', 'crc32'])(
    'returns 460 if it does not match, as if the chunk had never arrived: %s',
    async (algorithm) => {
      const address = await tus.create(10)
      await tus.patch(address, 0, 'hello')
      const fields = { 'Upload-Checksum': checksum(algorithm, 'World') }
      expect((await tus.patch(address, 5, 'world', fields)).status).toBe(460)
      expect(await tus.offset(address)).toBe(5)
      const again = { 'Upload-Checksum': checksum(algorithm, 'world') }
      expect((await tus.patch(address, 5, 'world', again)).status).toBe(204)
    },
  )

  it.each([
    'sha512 AAAA',
    'SHA1 qvTGHdzF6KLavt4PO0gs2a6pQ00=',
    'sha1',
    'sha1 *',
    'sha1  qvTGHdzF6KLavt4PO0gs2a6pQ00= x',
    '',
  ])('returns 400 for an unknown algorithm or format, and keeps nothing: %j', async (header) => {
    const address = await tus.create(5)
    expect((await tus.patch(address, 0, 'hello', { 'Upload-Checksum': header })).status).toBe(400)
    expect(await tus.offset(address)).toBe(0)
  })

  it('keeps nothing of a chunk whose connection breaks', async () => {
    const address = await tus.create(100_000)
    const url = tus.at(address)
    await using connection = open(url)
    const fields = { ...tus.common, 'Content-Type': OCTETS, 'Upload-Offset': 0, 'Content-Length': 100_000 }
    const sum = checksum('sha1', 'x'.repeat(100_000))
    connection.write(requestHead('PATCH', url, { ...fields, 'Upload-Checksum': sum }))
    connection.write('x'.repeat(50_000))
    await connection.end()
    expect(await tus.offset(address)).toBe(0)
  })

  it('is also verified on a creation with upload', async () => {
    const answer = await tus.post(
      { 'Upload-Length': 5, 'Upload-Checksum': checksum('sha1', 'Hello') },
      'hello',
    )
    expect(answer.status).toBe(460)
  })
})

describe('checksum-trailer', () => {
  async function withTrailer(address: string, body: string, trailer: string): Promise<Answer> {
    const url = tus.at(address)
    await using connection = open(url)
    const fields = { 'Content-Type': OCTETS, 'Upload-Offset': 0, 'Transfer-Encoding': 'chunked' }
    connection.write(
      requestHead('PATCH', url, {
        ...tus.common,
        ...fields,
        Trailer: 'Upload-Checksum',
        Connection: 'close',
      }),
    )
    connection.write(`${body.length.toString(16)}\r\n${body}\r\n0\r\n${trailer}\r\n`)
    return await connection.answer('PATCH')
  }

  it('is announced', async () => {
    expect((await tus.options()).headers['tus-extension']!.split(',')).toContain('checksum-trailer')
  })

  it('returns 204 if it matches', async () => {
    const trailer = `Upload-Checksum: ${checksum('sha1', 'hello')}\r\n`
    expect((await withTrailer(await tus.create(5), 'hello', trailer)).status).toBe(204)
  })

  it('returns 460 if it does not match, as if the chunk had never arrived', async () => {
    const address = await tus.create(5)
    const trailer = `Upload-Checksum: ${checksum('sha1', 'Hello')}\r\n`
    expect((await withTrailer(address, 'hello', trailer)).status).toBe(460)
    expect(await tus.offset(address)).toBe(0)
  })

  it('returns 400 if it was announced but not sent, and keeps nothing', async () => {
    const address = await tus.create(5)
    expect((await withTrailer(address, 'hello', '')).status).toBe(400)
    expect(await tus.offset(address)).toBe(0)
  })
})
