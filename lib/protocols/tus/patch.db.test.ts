import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { codeOf, OFFSET_STREAM, tusCall } from '../../../test/support/tus-client.ts'
import { tusSite } from '../../../test/support/tus-site.ts'

const { at, bytes, begin } = tusSite()

describe('PATCH', () => {
  it('returns 415 without the media type of an offset stream, and 400 without an offset', async () => {
    const url = await begin()
    const send = (headers: Record<string, string>) =>
      tusCall({ method: 'PATCH', url, token: at.client.token, headers, body: bytes })
    expect(codeOf(await send({ 'Upload-Offset': '0' }))).toEqual([415, 'unsupported_media_type'])
    expect(codeOf(await send(OFFSET_STREAM))).toEqual([400, 'invalid_header'])
  })

  it('returns 400 for a transfer coding that would be stored as received', async () => {
    const url = await begin()
    const headers = { 'Transfer-Encoding': 'gzip, chunked' }
    expect(codeOf(await at.client.patch(url, 0, bytes, headers))).toEqual([400, 'invalid_header'])
    const chunked = { 'Transfer-Encoding': 'Chunked' }
    expect((await at.client.patch(url, 0, bytes, chunked)).status).toBe(204)
  })

  it('returns 409 with the confirmed offset if the offset is wrong', async () => {
    const url = await begin()
    await at.client.patch(url, 0, bytes.subarray(0, 10))
    const reply = await at.client.patch(url, 0, bytes)
    expect(codeOf(reply)).toEqual([409, 'offset_conflict'])
    expect(reply.headers['upload-offset']).toBe('10')
  })

  it('returns 413 if the body exceeds the length, and keeps nothing', async () => {
    const url = await begin()
    expect(codeOf(await at.client.patch(url, 0, randomBytes(1001)))).toEqual([413, 'file_too_large'])
    const chunked = await tusCall({
      method: 'PATCH',
      url,
      token: at.client.token,
      headers: { 'Upload-Offset': '0', 'Transfer-Encoding': 'chunked', ...OFFSET_STREAM },
      body: undefined,
    })
    expect(chunked.status).toBe(204)
    expect((await at.client.head(url)).headers['upload-offset']).toBe('0')
  })

  it('returns 204 for an empty PATCH in the middle and at the end', async () => {
    const url = await begin()
    await at.client.patch(url, 0, bytes.subarray(0, 600))
    expect(await at.client.patch(url, 600, Buffer.alloc(0))).toMatchObject({
      status: 204,
      headers: { 'upload-offset': '600' },
    })
    await at.client.patch(url, 600, bytes.subarray(600))
    expect(await at.client.patch(url, 1000, Buffer.alloc(0))).toMatchObject({
      status: 204,
      headers: { 'upload-offset': '1000' },
    })
    expect(codeOf(await at.client.patch(url, 1000, bytes))).toEqual([413, 'file_too_large'])
  })

  it('lets the client declare a deferred length only once', async () => {
    const url = await begin(null)
    await at.client.patch(url, 0, bytes.subarray(0, 500), { 'Upload-Length': '1000' })
    const reply = await at.client.patch(url, 500, bytes.subarray(500), { 'Upload-Length': '2000' })
    expect(codeOf(reply)).toEqual([400, 'invalid_header'])
    expect((await at.client.head(url)).headers).toMatchObject({
      'upload-length': '1000',
      'upload-offset': '500',
    })
  })
})
