import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { openCall } from '../../../test/support/http-call.ts'
import { codeOf, metadata, OFFSET_STREAM, tusCall } from '../../../test/support/tus-client.ts'
import { tusSite } from '../../../test/support/tus-site.ts'
import { listFiles } from '../../dashboard/files/list-files.ts'
import { rows } from '../../platform/db/database.ts'
import { days } from '../../platform/kernel/clock.ts'

const { at, bytes, otherPipe } = tusSite()

describe('creation', () => {
  it.each([
    [{}, 'Upload-Length'],
    [{ 'Upload-Length': '-1' }, 'Upload-Length'],
    [{ 'Upload-Length': '1e3' }, 'Upload-Length'],
    [{ 'Upload-Defer-Length': '2' }, 'Upload-Defer-Length'],
    [{ 'Upload-Length': '1', 'Upload-Defer-Length': '1' }, 'are mutually exclusive'],
    [{ 'Upload-Length': '1', 'Upload-Metadata': 'filename not*base64' }, 'Upload-Metadata'],
    [{ 'Upload-Length': '1', 'Upload-Metadata': 'a YQ==,a YQ==' }, 'Upload-Metadata'],
    [{ 'Upload-Length': '1', 'Upload-Metadata': `a ${'YWFh'.repeat(2100)}` }, 'Upload-Metadata'],
  ])('returns 400 for %o, with the reason', async (headers: Record<string, string>, words) => {
    const reply = await tusCall({
      method: 'POST',
      url: at.client.collection,
      token: at.client.token,
      headers,
    })
    expect(codeOf(reply)).toEqual([400, 'invalid_header'])
    expect(JSON.parse(reply.body).detail).toContain(words)
  })

  it('returns 415 for a body of another media type, and 413 for a body that is longer than the upload', async () => {
    const send = (headers: Record<string, string>) =>
      tusCall({
        method: 'POST',
        url: at.client.collection,
        token: at.client.token,
        headers: { 'Upload-Length': '10', ...headers },
        body: bytes,
      })
    expect(codeOf(await send({ 'Content-Type': 'text/plain' }))).toEqual([415, 'unsupported_media_type'])
    expect(codeOf(await send(OFFSET_STREAM))).toEqual([413, 'file_too_large'])
  })

  it('returns metadata exactly as sent, and the time when the upload expires', async () => {
    const sent = `${metadata({ filename: 'größe 1.png', filetype: 'image/png', note: 'x' })},empty`
    const asked = at.site.clock.now()
    const made = await at.client.create(10, { 'Upload-Metadata': sent })
    const answered = at.site.clock.now()
    expect(made.headers['upload-offset']).toBeUndefined()
    const head = await at.client.head(made.headers.location!)
    expect(head.headers).toMatchObject({
      'upload-metadata': sent,
      'upload-offset': '0',
      'upload-length': '10',
      'cache-control': 'no-store',
    })
    // The header has a resolution of one second.
    const expires = Date.parse(head.headers['upload-expires']!) - days(7)
    expect(expires).toBeGreaterThan(asked - 1000)
    expect(expires).toBeLessThanOrEqual(answered)
  })

  it('returns 403 if the type is not allowed or the source is off', async () => {
    const images = await otherPipe({ allowedTypes: ['image/*'] })
    const type = (filetype: string) => ({ 'Upload-Metadata': metadata({ filetype }) })
    expect(codeOf(await images.create(5, type('text/html')))).toEqual([403, 'type_not_allowed'])
    expect((await images.create(5, type('image/png'))).status).toBe(201)
    const off = await otherPipe({})
    const url = await off.begin(3)
    const pipeId = off.collection.split('/').at(-3)
    await at.database.db.execute(sql`update pipes set source_http = false where id = ${pipeId}`)
    expect(codeOf(await off.create(5))).toEqual([403, 'pipe_source_off'])
    expect((await off.patch(url, 0, Buffer.from('abc'))).status).toBe(204)
  })
})

describe('a creation whose first bytes are refused', () => {
  const wrong = { 'Upload-Checksum': `sha1 ${createHash('sha1').update('x').digest('base64')}` }
  const oneFile = () => at.site.client(at.node, { maxFiles: 1 })
  const refused = async () => {
    const once = await oneFile()
    expect(codeOf(await once.create(1000, wrong, bytes))).toEqual([460, 'checksum_mismatch'])
    return once
  }

  it('reserves nothing, and leaves no record', async () => {
    const before = await listFiles(at.site.runtime, at.site.actor, { limit: 1 })
    await refused()
    const last = sql`select status, reserved_bytes as reserved from files order by id desc limit 1`
    expect(await rows(at.database.db, last)).toEqual([{ status: 'canceled', reserved: 0 }])
    expect(await listFiles(at.site.runtime, at.site.actor, { limit: 1 })).toEqual(before)
  })

  it('can be repeated thirty times with a token, and then once every ten seconds', async () => {
    const once = await oneFile()
    for (let n = 0; n < 30; n++) expect((await once.create(1000, wrong, bytes)).status).toBe(460)
    const limited = await once.create(1000, wrong, bytes)
    expect(codeOf(limited)).toEqual([429, 'rate_limited'])
    expect(limited.headers['retry-after']).toBe('10')
    at.site.clock.advance(10_000)
    expect((await once.create(1000, wrong, bytes)).status).toBe(460)
    expect((await once.create(1000, {}, bytes)).status).toBe(429)
    at.site.clock.advance(10_000)
    expect((await once.create(1000, {}, bytes)).status).toBe(201)
  })

  it("does not count toward the token's files", async () => {
    const once = await refused()
    expect((await once.create(1000, {}, bytes)).status).toBe(201)
    expect(codeOf(await once.create(1000, {}, bytes))).toEqual([403, 'token_exhausted'])
  })
})

describe('a creation whose first bytes are interrupted', () => {
  const newest = async () =>
    (
      await rows<{ status: string; reason: string | null; offset: number }>(
        at.database.db,
        sql`select status, failure_reason as reason, offset_bytes::float8 as offset from files order by id desc limit 1`,
      )
    )[0]

  it("fails, and does not count toward the token's files", async () => {
    const once = await at.site.client(at.node, { maxFiles: 1 })
    const headers = {
      'Tus-Resumable': '1.0.0',
      'Upload-Length': '1000',
      'Content-Length': '1000',
      ...OFFSET_STREAM,
    }
    const post = openCall({ method: 'POST', url: once.collection, token: once.token, headers })
    await post.write(bytes.subarray(0, 500))
    await expect.poll(newest).toMatchObject({ status: 'uploading' })
    post.cut()
    await expect.poll(newest).toEqual({ status: 'failed', reason: 'interrupted', offset: 500 })
    expect((await once.create(1000, {}, bytes)).status).toBe(201)
    expect(codeOf(await once.create(1000, {}, bytes))).toEqual([403, 'token_exhausted'])
  })
})
