import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { codeOf, fileIdOf, tusCall } from '../../../test/support/tus-client.ts'
import { tusSite } from '../../../test/support/tus-site.ts'
import { hours } from '../../platform/kernel/clock.ts'

const { at, bytes, otherPipe } = tusSite()

describe('tokens', () => {
  const create = (token: string | undefined) =>
    tusCall({ method: 'POST', url: at.client.collection, token, headers: { 'Upload-Length': '5' } })

  it("returns 401 without a token, with an unknown token, or with another Pipe's token", async () => {
    expect(codeOf(await create(undefined))).toEqual([401, 'token_missing'])
    const unknown = await create(`tmp_${'a'.repeat(43)}`)
    expect(codeOf(unknown)).toEqual([401, 'token_invalid'])
    expect(unknown.headers['www-authenticate']).toBe('Bearer')
    const other = await otherPipe({})
    const reply = await tusCall({
      method: 'POST',
      url: other.collection,
      token: at.client.token,
      headers: { 'Upload-Length': '5' },
    })
    expect(codeOf(reply)).toEqual([401, 'token_invalid'])
  })

  it('returns 401 sender_token_exposed for a Sender token, and records when and where', async () => {
    const reply = await tusCall({
      method: 'POST',
      url: at.client.collection,
      token: at.site.sender.token,
      headers: { 'Upload-Length': '5', Origin: 'https://leaky.example' },
    })
    expect(codeOf(reply)).toEqual([401, 'sender_token_exposed'])
    const [row] = (await at.database.db.execute(
      sql`select exposed_at is not null as seen, exposed_origin from senders where id = ${at.site.sender.id}::uuid`,
    )) as unknown as [object]
    expect(row).toMatchObject({ seen: true, exposed_origin: 'https://leaky.example' })
  })

  it('does not let an expired token create uploads, but lets it finish those it started', async () => {
    const short = await at.site.client(at.node, { expiresIn: 60 })
    const url = await short.begin(1000)
    at.site.clock.advance(hours(2))
    expect(codeOf(await short.create(5))).toEqual([401, 'token_expired'])
    expect((await short.head(url)).status).toBe(200)
    expect((await short.patch(url, 0, bytes)).status).toBe(204)
  })

  it('lets a token with the same subject continue the upload, even after it expires, but returns 404 for another subject', async () => {
    const of = (input: object) => at.site.client(at.node, input as never)
    const url = (await (await of({ subject: 'ann' })).create(1000)).headers.location!
    const stranger = await of({ subject: 'bob' })
    expect((await stranger.head(url)).status).toBe(404)
    expect(codeOf(await stranger.patch(url, 0, bytes))).toEqual([404, 'upload_not_found'])
    const second = await of({ subject: 'ann', expiresIn: 60 })
    expect((await second.patch(url, 0, bytes.subarray(0, 400))).status).toBe(204)
    const third = await of({ subject: 'ann', expiresIn: 60 })
    at.site.clock.advance(hours(2))
    expect((await second.patch(url, 400, bytes.subarray(400, 500))).status).toBe(204)
    expect((await third.head(url)).status).toBe(401)
  })

  it('returns 401 token_revoked as soon as the token or its Sender is revoked', async () => {
    const revoked = await at.site.client(at.node)
    const url = await revoked.begin(5)
    await at.database.db.execute(sql`update tokens set revoked_at = now() where id =
      (select token_id from files where id = ${fileIdOf(url)}::uuid)`)
    expect(codeOf(await revoked.create(5))).toEqual([401, 'token_revoked'])
    expect((await revoked.head(url)).status).toBe(401)
  })

  it('returns 403 once a token has created its maximum number of files, and 413 above its size limit', async () => {
    const input = { maxFiles: 2, maxBytes: 10 }
    const small = await at.site.client(at.node, input)
    const big = await small.create(11)
    expect(codeOf(big)).toEqual([413, 'file_too_large'])
    expect(big.headers['tus-max-size']).toBe('10')
    // The lengths differ, because a repeated creation would replace the first one.
    const replies = await Promise.all([1, 2, 3, 4].map((length) => small.create(length)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403])
  })
})
