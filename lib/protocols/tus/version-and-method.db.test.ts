import { describe, expect, it } from 'vitest'
import { codeOf, OFFSET_STREAM, tusCall } from '../../../test/support/tus-client.ts'
import { tusSite } from '../../../test/support/tus-site.ts'

const { at, bytes, begin } = tusSite()

describe('version and method', () => {
  it('returns 412 with Tus-Version for another version or none', async () => {
    const reply = await tusCall({
      method: 'PATCH',
      url: at.client.collection,
      token: at.client.token,
      headers: { 'Tus-Resumable': '0.2.2' },
    })
    expect(codeOf(reply)).toEqual([412, 'version_not_supported'])
    expect(reply.headers).toMatchObject({ 'tus-version': '1.0.0', 'tus-resumable': '1.0.0' })
  })

  it('returns 405 for GET, and for POST to an upload', async () => {
    const url = await begin()
    expect(codeOf(await tusCall({ method: 'GET', url, token: at.client.token }))).toEqual([
      405,
      'method_not_allowed',
    ])
    const post = await tusCall({
      method: 'POST',
      url,
      token: at.client.token,
      headers: { 'Upload-Length': '1' },
    })
    expect(codeOf(post)).toEqual([405, 'method_not_allowed'])
  })

  it('returns 404 for any other address', async () => {
    const reply = await tusCall({
      method: 'HEAD',
      url: `${at.node.url}/pipes/nonsense/files/`,
      token: at.client.token,
    })
    expect(reply.status).toBe(404)
  })

  it('honors X-HTTP-Method-Override', async () => {
    const url = await begin()
    const headers = { 'X-HTTP-Method-Override': 'PATCH', 'Upload-Offset': '0', ...OFFSET_STREAM }
    expect(
      await tusCall({ method: 'POST', url, token: at.client.token, headers, body: bytes }),
    ).toMatchObject({ status: 204 })
  })
})
