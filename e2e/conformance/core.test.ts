import { beforeAll, describe, expect, inject, it } from 'vitest'
import { cut, open, requestHead } from '../../test/support/raw-http.ts'
import { targetOf } from '../../test/support/target.ts'
import { codeOf, newTus, OCTETS, type Tus } from '../../test/support/tus.ts'

let tus: Tus
beforeAll(async () => {
  tus = await newTus(targetOf(inject('demo')))
})

const NO_NUMBERS = ['', '-1', '1.5', '0x10', '1e3', '1 1', 'abc', '+1']

describe('headers', () => {
  it.each(NO_NUMBERS)('returns 400 for an Upload-Offset that is not an integer: %j', async (offset) => {
    const address = await tus.create(5)
    const answer = await tus.patch(address, offset, 'hello')
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body).detail).toContain('Upload-Offset')
    expect(await tus.offset(address)).toBe(0)
  })

  it('returns 400 for a PATCH without Upload-Offset', async () => {
    const address = await tus.create(5)
    const answer = await tus.send('PATCH', address, { 'Content-Type': OCTETS }, 'hello')
    expect(answer.status).toBe(400)
    expect(await tus.offset(address)).toBe(0)
  })

  it.each(NO_NUMBERS)('returns 400 for an Upload-Length that is not an integer: %j', async (length) => {
    const answer = await tus.post({ 'Upload-Length': length })
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body).detail).toContain('Upload-Length')
  })

  it('sends Tus-Resumable with every response, including refusals', async () => {
    const address = await tus.create(5)
    const answers = [
      await tus.head(address),
      await tus.patch(address, 3, 'hello'),
      await tus.patch(address, 0, 'hello', { 'Content-Type': 'text/plain' }),
      await tus.patch(address, 0, 'hello'),
      await tus.post({}),
      await tus.post({ 'Upload-Length': 1, Authorization: undefined }),
      await tus.head(`${tus.uploadUrl}01890000-0000-7000-8000-000000000000`),
      await tus.send('GET', address),
      await tus.delete(address),
    ]
    for (const { headers } of answers) expect(headers['tus-resumable']).toBe('1.0.0')
  })

  it.each([undefined, '0.2.2', '1.0.1', ''])(
    'returns 412 with Tus-Version for another version or none, and does nothing: %j',
    async (version) => {
      const address = await tus.create(5)
      for (const answer of [
        await tus.patch(address, 0, 'hello', { 'Tus-Resumable': version }),
        await tus.head(address, { 'Tus-Resumable': version }),
        await tus.delete(address, { 'Tus-Resumable': version }),
        await tus.post({ 'Upload-Length': 5, 'Tus-Resumable': version }),
      ]) {
        expect(answer.status).toBe(412)
        expect(answer.headers['tus-version']).toBe('1.0.0')
        expect(answer.headers.location).toBeUndefined()
      }
      expect(await tus.offset(address)).toBe(0)
    },
  )

  it('lets X-HTTP-Method-Override replace the method', async () => {
    const address = await tus.create(5)
    const override = (method: string, fields = {}, body = '') =>
      tus.send('POST', address, { 'X-HTTP-Method-Override': method, ...fields }, body)
    const patched = await override('PATCH', { 'Content-Type': OCTETS, 'Upload-Offset': 0 }, 'hel')
    expect(patched).toMatchObject({ status: 204, headers: { 'upload-offset': '3' } })
    expect(await override('HEAD')).toMatchObject({ headers: { 'upload-offset': '3' } })
    expect((await override('DELETE')).status).toBe(204)
    expect((await tus.head(address)).status).toBe(410)
  })
})

describe('HEAD', () => {
  it('always returns the offset and the length: at the start, in the middle, at the end', async () => {
    const address = await tus.create(5)
    const told: (string | undefined)[][] = []
    for (const [offset, bytes] of [
      [0, 'hel'],
      [3, 'lo'],
    ] as const) {
      const { headers } = await tus.head(address)
      told.push([headers['upload-offset'], headers['upload-length']])
      await tus.patch(address, offset, bytes)
    }
    const { status, headers } = await tus.head(address)
    told.push([headers['upload-offset'], headers['upload-length']])
    expect(told).toEqual([
      ['0', '5'],
      ['3', '5'],
      ['5', '5'],
    ])
    expect(status).toBe(200)
  })

  it('is never cached', async () => {
    const address = await tus.create(5)
    expect((await tus.head(address)).headers['cache-control']).toBe('no-store')
    expect((await tus.head(`${address}0`)).headers['cache-control']).toBe('no-store')
  })

  it('returns 404 without Upload-Offset for an unknown upload', async () => {
    for (const id of ['01890000-0000-7000-8000-000000000000', 'no-such', '..%2f..%2fetc']) {
      const { status, headers } = await tus.head(tus.uploadUrl + id)
      expect(status).toBe(404)
      expect(headers['upload-offset']).toBeUndefined()
    }
  })
})

describe('PATCH', () => {
  it('returns 204 with the sum of the previous offset and the bytes in the request', async () => {
    const address = await tus.create(11)
    expect(await tus.patch(address, 0, 'hello ')).toMatchObject({
      status: 204,
      headers: { 'upload-offset': '6' },
    })
    expect(await tus.patch(address, 6, 'world')).toMatchObject({
      status: 204,
      headers: { 'upload-offset': '11' },
    })
  })

  it.each([0, 2, 4, 11, '9'.repeat(30)])(
    'returns 409 at another offset and changes nothing: %s',
    async (offset) => {
      const address = await tus.create(11)
      await tus.patch(address, 0, 'hel')
      const answer = await tus.patch(address, offset, 'lo world')
      expect(answer.status).toBe(409)
      expect(answer.headers['upload-offset']).toBe('3')
      expect(await tus.offset(address)).toBe(3)
    },
  )

  it.each([undefined, 'text/plain', 'application/octet-stream', 'application/offset+octet-stream2'])(
    'returns 415 for another Content-Type and changes nothing: %j',
    async (type) => {
      const address = await tus.create(5)
      expect((await tus.patch(address, 0, 'hello', { 'Content-Type': type })).status).toBe(415)
      expect(await tus.offset(address)).toBe(0)
    },
  )

  it('returns 404 for an unknown upload', async () => {
    const answer = await tus.patch(`${tus.uploadUrl}01890000-0000-7000-8000-000000000000`, 0, 'hello')
    expect(answer.status).toBe(404)
  })

  it('keeps the bytes received before the connection broke', async () => {
    const address = await tus.create(1_000_000)
    const url = tus.at(address)
    const fields = { ...tus.common, 'Content-Type': OCTETS, 'Upload-Offset': 0, 'Content-Length': 1_000_000 }
    await using connection = open(url)
    connection.write(requestHead('PATCH', url, fields))
    connection.write(Buffer.alloc(300_000, 'x'))
    // The reset must not overtake the bytes: it discards everything that the server has not read yet.
    await connection.end()
    await expect.poll(() => tus.offset(address)).toBe(300_000)
  })

  it('returns 413 for bytes past the length', async () => {
    const address = await tus.create(5)
    const answer = await tus.patch(address, 0, 'hello world')
    expect(answer.status).toBe(413)
    expect(await tus.offset(address)).toBeLessThanOrEqual(5)
  })

  it('returns 204 without bytes at the end of a finished upload', async () => {
    const address = await tus.create(5)
    await tus.patch(address, 0, 'hello')
    expect(await tus.patch(address, 5, '')).toMatchObject({ status: 204, headers: { 'upload-offset': '5' } })
  })

  it('leaves no offset that is too large when its connection is reset', async () => {
    const address = await tus.create(1_000_000)
    const url = tus.at(address)
    const fields = { ...tus.common, 'Content-Type': OCTETS, 'Upload-Offset': 0, 'Content-Length': 1_000_000 }
    await using connection = open(url)
    connection.write(requestHead('PATCH', url, fields))
    connection.write(Buffer.alloc(200_000, 'x'))
    await expect.poll(() => connection.socket.writableLength).toBe(0)
    cut(connection.socket)
    const offset = await tus.offset(address)
    expect(offset).toBeLessThanOrEqual(200_000)
    const rest = Buffer.alloc(1_000_000 - offset, 'x')
    expect((await tus.patch(address, offset, rest)).status).toBe(204)
  })
})

describe('OPTIONS', () => {
  it('returns versions, extensions, the maximum size and the checksum algorithms to anyone', async () => {
    const { status, headers } = await tus.options()
    expect(status).toBe(200)
    expect(headers['tus-version']).toBe('1.0.0')
    expect(headers['tus-max-size']).toMatch(/^\d+$/)
    expect(headers['tus-extension']!.split(',')).toEqual(
      expect.arrayContaining([
        'creation',
        'creation-with-upload',
        'creation-defer-length',
        'termination',
        'expiration',
        'checksum',
        'checksum-trailer',
      ]),
    )
    expect(headers['tus-checksum-algorithm']!.split(',').sort()).toEqual(['crc32', 'md5', 'sha1', 'sha256'])
  })

  it('ignores Tus-Resumable', async () => {
    expect((await tus.options({ 'Tus-Resumable': '0.0.1' })).headers['tus-version']).toBe('1.0.0')
  })
})

it('returns 405 for a GET of an upload', async () => {
  const answer = await tus.send('GET', await tus.create(1))
  expect(answer.status).toBe(405)
  expect(codeOf(answer)).toBe('method_not_allowed')
})
