import { beforeAll, describe, expect, inject, it } from 'vitest'
import { open, requestHead } from '../../test/support/raw-http.ts'
import { targetOf } from '../../test/support/target.ts'
import { located, metadata, newTus, OCTETS, type Tus } from '../../test/support/tus.ts'

let tus: Tus
beforeAll(async () => {
  tus = await newTus(targetOf(inject('demo')))
})

const extensions = async () => (await tus.options()).headers['tus-extension']!.split(',')

describe('creation', () => {
  it('is announced along with related headers', async () => {
    expect(await extensions()).toEqual(
      expect.arrayContaining(['creation', 'creation-with-upload', 'creation-defer-length']),
    )
  })

  it('returns 201 with a Location that accepts the bytes', async () => {
    const address = located(await tus.post({ 'Upload-Length': 5 }))
    expect(new URL(address).pathname).toMatch(/^\/pipes\/pipe_[a-z2-7]{20}\/files\/[0-9a-f-]{36}$/)
    expect((await tus.patch(address, 0, 'hello')).status).toBe(204)
  })

  it('accepts the address with and without its trailing slash', async () => {
    const fields = { 'Upload-Length': 5 }
    expect((await tus.send('POST', tus.uploadUrl.replace(/\/$/, ''), fields)).status).toBe(201)
    expect((await tus.send('POST', tus.uploadUrl, fields)).status).toBe(201)
  })

  it('completes an empty file immediately', async () => {
    const address = await tus.create(0)
    const { headers } = await tus.head(address)
    expect([headers['upload-offset'], headers['upload-length']]).toEqual(['0', '0'])
  })

  it('returns 400 without a length, or with one that is also deferred', async () => {
    expect((await tus.post({})).status).toBe(400)
    expect((await tus.post({ 'Upload-Length': 5, 'Upload-Defer-Length': 1 })).status).toBe(400)
  })

  it('returns 413 with Tus-Max-Size for a length above that size', async () => {
    const largest = (await tus.options()).headers['tus-max-size']!
    for (const length of [String(BigInt(largest) + 1n), '9'.repeat(30)]) {
      const answer = await tus.post({ 'Upload-Length': length })
      expect(answer.status).toBe(413)
      expect(answer.headers['tus-max-size']).toBe(largest)
    }
  })
})

describe('Upload-Metadata', () => {
  it.each([
    metadata({ filename: 'a b,c.txt', filetype: 'text/plain' }),
    'filename ZsOpdMOpLnR4dA==,confidential',
    'empty ,filename YQ==',
    'binary AAECAw==',
  ])('is returned as sent: %j', async (header) => {
    const address = await tus.create(5, { 'Upload-Metadata': header })
    expect((await tus.head(address)).headers['upload-metadata']).toBe(header.trim())
  })

  it('is absent if none was sent', async () => {
    expect((await tus.head(await tus.create(5))).headers['upload-metadata']).toBeUndefined()
  })

  it.each([
    ['a duplicate key', 'a YQ==,a Yg=='],
    ['a value that is not base64', 'filename a*b'],
    ['base64 without its padding', 'filename YQ'],
    ['two values', 'filename YQ== Yg=='],
    ['an empty pair', 'filename YQ==,,b YQ=='],
    ['a key that is not ASCII', 'nämé YQ=='],
    ['more than 8 KiB', `a ${'A'.repeat(8192)}`],
  ])('returns 400 with %s', async (_, header) => {
    const answer = await tus.post({ 'Upload-Length': 5, 'Upload-Metadata': header })
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body).detail).toContain('Upload-Metadata')
  })

  it('cannot inject a header into a response', async () => {
    const value = Buffer.from('a\r\nSet-Cookie: x=1\r\n\r\n<script>').toString('base64')
    const address = await tus.create(5, { 'Upload-Metadata': `filename ${value}` })
    const { headers } = await tus.head(address)
    expect(headers['upload-metadata']).toBe(`filename ${value}`)
    expect(headers).not.toHaveProperty('set-cookie')
  })
})

describe('creation-with-upload', () => {
  it('keeps the bytes of the body and returns the offset', async () => {
    const answer = await tus.post({ 'Upload-Length': 11 }, 'hello ')
    expect(answer.headers['upload-offset']).toBe('6')
    const address = located(answer)
    expect((await tus.patch(address, 6, 'world')).headers['upload-offset']).toBe('11')
  })

  it('may carry the entire upload', async () => {
    const answer = await tus.post({ 'Upload-Length': 5 }, 'hello')
    expect(answer.headers['upload-offset']).toBe('5')
    expect(await tus.offset(located(answer))).toBe(5)
  })

  it('returns 415 for another Content-Type', async () => {
    for (const type of [undefined, 'text/plain']) {
      const answer = await tus.post({ 'Upload-Length': 5, 'Content-Type': type }, 'hello')
      expect(answer.status).toBe(415)
    }
  })

  it('responds to Expect: 100-continue before the body, and refuses before it', async () => {
    const url = tus.at(tus.uploadUrl)
    const fields = { ...tus.common, 'Content-Type': OCTETS, 'Content-Length': 5, Expect: '100-continue' }
    await using good = open(url)
    good.write(requestHead('POST', url, { ...fields, 'Upload-Length': 5 }))
    expect((await good.answer('POST')).status).toBe(100)
    good.write('hello')
    expect((await good.answer('POST')).status).toBe(201)
    await using bad = open(url)
    bad.write(requestHead('POST', url, { ...fields, 'Upload-Length': 5, Authorization: 'Bearer tmp_no' }))
    expect((await bad.answer('POST')).status).toBe(401)
  })
})

describe('creation-defer-length', () => {
  const deferred = async () => located(await tus.post({ 'Upload-Defer-Length': 1 }))

  it.each(['0', '2', 'true', ''])('returns 400 for any value other than 1: %j', async (value) => {
    expect((await tus.post({ 'Upload-Defer-Length': value })).status).toBe(400)
  })

  it('is returned by HEAD until the length is known', async () => {
    const address = await deferred()
    const before = (await tus.head(address)).headers
    expect([before['upload-defer-length'], before['upload-length']]).toEqual(['1', undefined])
    expect(before['upload-offset']).toBe('0')
    await tus.patch(address, 0, 'hel')
    expect((await tus.head(address)).headers['upload-defer-length']).toBe('1')
    await tus.patch(address, 3, 'lo', { 'Upload-Length': 5 })
    const after = (await tus.head(address)).headers
    expect([after['upload-defer-length'], after['upload-length']]).toEqual([undefined, '5'])
    expect(after['upload-offset']).toBe('5')
  })

  it('lets the length be set once, but not changed', async () => {
    const address = await deferred()
    await tus.patch(address, 0, 'h', { 'Upload-Length': 5 })
    const answer = await tus.patch(address, 1, 'e', { 'Upload-Length': 6 })
    expect(answer.status).toBe(400)
    const { headers } = await tus.head(address)
    expect([headers['upload-length'], headers['upload-offset']]).toEqual(['5', '1'])
  })

  it('accepts the length with the last, empty PATCH', async () => {
    const address = await deferred()
    await tus.patch(address, 0, 'hello')
    expect((await tus.patch(address, 5, '', { 'Upload-Length': 5 })).status).toBe(204)
    expect((await tus.head(address)).headers['upload-length']).toBe('5')
  })

  it('returns 400 for a length below the offset', async () => {
    const address = await deferred()
    await tus.patch(address, 0, 'hello')
    expect((await tus.patch(address, 5, '', { 'Upload-Length': 3 })).status).toBe(400)
    expect((await tus.head(address)).headers['upload-defer-length']).toBe('1')
  })
})
