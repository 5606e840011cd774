import { beforeAll, describe, expect, inject, it } from 'vitest'
import { ask, open, requestHead } from '../../test/support/raw-http.ts'
import { type Target, targetOf } from '../../test/support/target.ts'
import { codeOf, metadata, newTus, OCTETS, type Tus, tusWith } from '../../test/support/tus.ts'

let target: Target
let tus: Tus
beforeAll(async () => {
  target = targetOf(inject('demo'))
  tus = await newTus(target)
})

describe('a token', () => {
  it.each([
    ['no token', undefined, 'token_missing'],
    ['another scheme', 'Basic dXNlcjpwYXNz', 'token_missing'],
    ['nothing after Bearer', 'Bearer ', 'token_missing'],
    ['an unknown token', `Bearer tmp_${'a'.repeat(43)}`, 'token_invalid'],
    ['an account key', `Bearer ak_${'a'.repeat(43)}`, 'token_invalid'],
  ])('is rejected: %s', async (_, Authorization, code) => {
    const answer = await tus.post({ 'Upload-Length': 1, Authorization })
    expect([answer.status, codeOf(answer)]).toEqual([401, code])
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  it('is rejected when a character is missing or changed', async () => {
    const { token } = tus
    for (const wrong of [
      token!.slice(0, -1),
      `${token}a`,
      token!.toUpperCase(),
      token!.replace('tmp_', 'tmp-'),
    ])
      expect((await tusWith(wrong, tus.uploadUrl).post({ 'Upload-Length': 1 })).status).toBe(401)
  })

  it('that belongs to a Sender is rejected, and its owner is warned', async () => {
    const answer = await tusWith(target.senderToken, tus.uploadUrl).post({
      'Upload-Length': 1,
      Origin: 'https://shop.example',
    })
    expect([answer.status, codeOf(answer)]).toEqual([401, 'sender_token_exposed'])
  })

  it('for another Pipe gets 404', async () => {
    const fields = { name: 'Another', dataStoreId: target.dataStoreId, source: { http: true } }
    const other = await target.api<{ id: string }>('POST', '/pipes', fields)
    const elsewhere = await newTus(target, { pipeId: other.body.id })
    const address = await tus.create(1)
    for (const answer of [
      await elsewhere.send('POST', tus.uploadUrl, { 'Upload-Length': 1 }),
      await elsewhere.head(address),
      await elsewhere.patch(address, 0, 'x'),
      await elsewhere.delete(address),
    ])
      expect([401, 403, 404]).toContain(answer.status)
    expect(await tus.offset(address)).toBe(0)
  })

  it('for another subject gets 404', async () => {
    const anna = await newTus(target, { subject: 'anna' })
    const berta = await newTus(target, { subject: 'berta' })
    const address = await anna.create(1)
    expect([401, 403, 404]).toContain((await berta.head(address)).status)
    expect([401, 403, 404]).toContain((await berta.delete(address)).status)
    expect(await anna.offset(address)).toBe(0)
  })

  it('is rejected once revoked, even for its own uploads', async () => {
    const own = await newTus(target, { subject: 'revoked' })
    const address = await own.create(1)
    const list = await target.api<{ data: { id: string; subject: string }[] }>('GET', '/tokens?limit=100')
    const { id } = list.body.data.find(({ subject }) => subject === 'revoked')!
    expect((await target.api('POST', `/tokens/${id}/revoke`)).status).toBeLessThan(300)
    for (const answer of [await own.post({ 'Upload-Length': 1 }), await own.patch(address, 0, 'x')])
      expect([answer.status, codeOf(answer)]).toEqual([401, 'token_revoked'])
    expect((await own.head(address)).status).toBe(401)
  })
})

describe('a filename', () => {
  it.each([
    '../../etc/passwd',
    '/etc/passwd',
    '..\\..\\x',
    'a\0b',
    'a\r\nb',
    '.',
    '..',
    ' ',
    'x'.repeat(5000),
  ])("cannot leave its upload's folder: %j", async (filename) => {
    const fields = { 'Upload-Length': 2, 'Upload-Metadata': metadata({ filename }) }
    const answer = await tus.post(fields, 'ok')
    expect(answer.status).toBe(201)
    const id = answer.headers.location!.split('/').at(-1)!
    const file = await target.api<{ destinations: { key: string }[] }>('GET', `/files/${id}`)
    const { key } = file.body.destinations[0]!
    expect(key).toMatch(new RegExp(`^${id}/[^/]+$`))
    expect(key.slice(id.length + 1)).not.toMatch(/\.\.|\p{Cc}|\\/u)
    expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1024)
  })
})

describe('a keyPrefix', () => {
  it.each(['/a', '../a', 'a/../b', 'a\0b', 'a\nb'])('is rejected: %j', async (keyPrefix) => {
    await expect(target.token({ keyPrefix })).rejects.toThrow(/400.*keyPrefix/)
  })
})

describe('the host', () => {
  it.each(['evil.example', 'localhost', '127.0.0.1.evil.example', ''])(
    "is rejected if it is not this server's: %j",
    async (Host) => {
      for (const path of ['/pipes/x/files/', '/', '/api/v1/tokens']) {
        const { status } = await ask('GET', new URL(path, target.baseUrl), { Host })
        expect([400, 421]).toContain(status)
      }
    },
  )

  it('is not changed by an untrusted X-Forwarded-Host', async () => {
    const answer = await tus.post({ 'Upload-Length': 1, 'X-Forwarded-Host': 'evil.example' })
    expect(answer.headers.location).toMatch(new RegExp(`^${tus.uploadUrl}`))
  })
})

describe('the limits', () => {
  it('reject headers that are too large with 431, and close the connection', async () => {
    const answer = await ask('HEAD', tus.at(tus.uploadUrl), { 'X-Large': 'x'.repeat(100_000) })
    expect(answer.status).toBe(431)
  })

  it('reject a token API body that is too large with 413', async () => {
    const url = new URL('/api/v1/tokens', target.baseUrl)
    const headers = { Authorization: `Bearer ${target.senderToken}`, 'Content-Type': 'application/json' }
    const answer = await ask('POST', url, headers, `{"pipeId":"${'x'.repeat(70_000)}"}`)
    expect([answer.status, codeOf(answer)]).toEqual([413, 'body_too_large'])
  })

  it('reject a file that is too large for its token with 413 before a byte is sent', async () => {
    const small = await newTus(target, { maxBytes: 10 })
    expect((await small.post({ 'Upload-Length': 11 })).status).toBe(413)
  })

  it('reject more uploads than a token allows with 403', async () => {
    const once = await newTus(target, { maxFiles: 1 })
    await once.create(1)
    const answer = await once.post({ 'Upload-Length': 2 })
    expect([answer.status, codeOf(answer)]).toEqual([403, 'token_exhausted'])
  })
})

describe('an HTTP request', () => {
  it.each([
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n'],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'],
    ['a folded header', 'X-A: b\r\n c\r\n'],
    ['a bare line feed', 'X-A: b\nX-B: c\r\n'],
    ['a space before the colon', 'Content-Length : 5\r\n'],
  ])('is not smuggled in with %s', async (_, lines) => {
    const url = tus.at(tus.uploadUrl)
    await using connection = open(url)
    const head = requestHead('POST', url, { ...tus.common, 'Content-Type': OCTETS, 'Upload-Length': 5 })
    connection.write(`${head.slice(0, -2)}${lines}\r\nhelloHEAD / HTTP/1.1\r\n\r\n`)
    expect((await connection.answer('POST')).status).toBe(400)
    await connection.end()
  })

  it('is not blocked by a hundred slow ones', async () => {
    const address = await tus.create(1000)
    const url = tus.at(address)
    const slow = Array.from({ length: 100 }, () => {
      const connection = open(url)
      connection.write(`POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nX-Slow: `)
      return connection
    })
    expect((await tus.patch(address, 0, Buffer.alloc(1000))).status).toBe(204)
    for (const connection of slow) await connection[Symbol.asyncDispose]()
  })
})
