import { describe, expect, it } from 'vitest'
import { codeOf, tusCall } from '../../../test/support/tus-client.ts'
import { tusSite } from '../../../test/support/tus-site.ts'

const { at, otherPipe } = tusSite()

describe('OPTIONS and CORS', () => {
  it('returns what the Pipe supports, without a token', async () => {
    const reply = await tusCall({ method: 'OPTIONS', url: at.client.collection })
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
    const reply = await tusCall({ method: 'OPTIONS', url: at.client.collection, headers })
    expect(reply.status).toBe(200)
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': 'https://a.example',
      'access-control-max-age': '86400',
      'access-control-allow-methods': 'POST, PUT, HEAD, PATCH, DELETE, OPTIONS',
    })
    const error = await tusCall({
      method: 'HEAD',
      url: at.client.collection,
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
