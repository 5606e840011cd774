import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { codeOf, fileIdOf, openPatch } from '../../../test/support/tus-client.ts'
import { tusSite } from '../../../test/support/tus-site.ts'
import { rows } from '../../platform/db/database.ts'
import { days, hours } from '../../platform/kernel/clock.ts'

const { at, renew, bytes, begin } = tusSite()

/** An upload whose first 500 bytes were sent by a request that is still open. */
const beginWriting = async () => {
  const url = await begin()
  const open = openPatch(at.client, url, { offset: 0, length: 1000 })
  await open.write(bytes.subarray(0, 500))
  const leased = sql`select from files where id = ${fileIdOf(url)}::uuid and lease_until is not null`
  while ((await rows(at.database.db, leased)).length === 0);
  return url
}

describe('expiry', () => {
  const expiryOf = async (url: string) => {
    const look = sql`select expires_at::text as at from files where id = ${fileIdOf(url)}::uuid`
    const [row] = await rows<{ at: string }>(at.database.db, look)
    return new Date(Math.floor(Date.parse(row!.at) / 1000) * 1000).toUTCString()
  }

  it('is postponed by new bytes, but not by an empty PATCH, and each response matches the database', async () => {
    const made = await at.client.create(1000, {}, bytes.subarray(0, 100))
    const url = made.headers.location!
    expect(made.headers['upload-expires']).toBe(await expiryOf(url))
    at.site.clock.advance(hours(1))
    await renew()
    const empty = await at.client.patch(url, 100, Buffer.alloc(0))
    expect(empty.headers['upload-expires']).toBe(made.headers['upload-expires'])
    expect(empty.headers['upload-expires']).toBe(await expiryOf(url))
    const more = await at.client.patch(url, 100, bytes.subarray(100, 200))
    expect(more.headers['upload-expires']).not.toBe(made.headers['upload-expires'])
    expect(more.headers['upload-expires']).toBe(await expiryOf(url))
  })

  const whileWritten = async () => {
    const url = await beginWriting()
    await at.database.db.execute(
      sql`update files set expires_at = now() - interval '1 day' where id = ${fileIdOf(url)}::uuid`,
    )
    return url
  }

  it('is checked by HEAD only once an active writer that postpones it has stopped', async () => {
    const url = await whileWritten()
    expect(await at.client.head(url)).toMatchObject({ status: 200, headers: { 'upload-offset': '500' } })
  })

  it('is checked by PATCH only once an active writer that postpones it has stopped', async () => {
    const url = await whileWritten()
    expect(codeOf(await at.client.patch(url, 0, bytes))).toEqual([409, 'offset_conflict'])
  })
})

describe('resumes', () => {
  const patch = async (url: string, from: number, to: number) =>
    (await at.client.patch(url, from, bytes.subarray(from, to))).status
  const counted = async (url: string) => {
    const id = fileIdOf(url)
    const [row] = await rows<{ resumeCount: number; savedBytes: number; asked: number }>(
      at.database.db,
      sql`select resume_count as "resumeCount", saved_bytes as "savedBytes",
        (select count(*)::int from file_timeline where file_id = f.id and kind = 'offset_asked') as asked
        from files f where id = ${id}::uuid`,
    )
    return row
  }

  it('are counted for a client that requests the offset between two complete requests, but only once', async () => {
    const url = await begin()
    await at.client.head(url)
    expect(await patch(url, 0, 300)).toBe(204)
    expect(await patch(url, 300, 400)).toBe(204)
    expect(await counted(url)).toEqual({ resumeCount: 0, savedBytes: 0, asked: 0 })
    for (let asked = 0; asked < 3; asked += 1) await at.client.head(url)
    expect(await patch(url, 400, 1000)).toBe(204)
    await at.client.head(url)
    expect(await counted(url)).toEqual({ resumeCount: 1, savedBytes: 400, asked: 1 })
  })

  it('are not counted for refused requests, and save each byte once', async () => {
    const saved = async () => (await at.node.context.metrics.savedBytes.get()).values[0]!.value
    const before = await saved()
    const url = await beginWriting()
    for (let refused = 0; refused < 3; refused++) expect(await patch(url, 0, 1000)).toBe(409)
    expect(await counted(url)).toMatchObject({ resumeCount: 0, savedBytes: 0 })
    expect(await patch(url, 500, 700)).toBe(204)
    expect(await counted(url)).toMatchObject({ resumeCount: 1, savedBytes: 500 })
    await at.client.head(url)
    expect(await patch(url, 700, 1000)).toBe(204)
    expect(await counted(url)).toMatchObject({ resumeCount: 2, savedBytes: 700 })
    expect((await saved()) - before).toBe(700)
  })
})

describe('the end of an upload', () => {
  it('DELETE terminates the upload, and later requests return 410', async () => {
    const url = await begin()
    await at.client.patch(url, 0, bytes.subarray(0, 10))
    expect((await at.client.terminate(url)).status).toBe(204)
    const head = await at.client.head(url)
    expect(head.status).toBe(410)
    expect(head.headers['upload-offset']).toBeUndefined()
    expect(codeOf(await at.client.patch(url, 10, bytes))).toEqual([410, 'upload_gone'])
    expect(codeOf(await at.client.terminate(url))).toEqual([410, 'upload_gone'])
  })

  it('DELETE of a finished upload retires its address and keeps the object', async () => {
    const made = await at.client.create(1000, {}, bytes)
    const url = made.headers.location!
    expect((await at.client.terminate(url)).status).toBe(204)
    expect((await at.client.head(url)).status).toBe(410)
    expect(await at.site.bucket.object(`${fileIdOf(url)}/file`)).toEqual(bytes)
  })

  it('returns 410 for an expired upload, and 404 for one that never existed', async () => {
    const url = await begin()
    at.site.clock.advance(days(8))
    const fresh = await at.site.client(at.node)
    expect((await fresh.head(url)).status).toBe(410)
    expect(codeOf(await fresh.patch(url, 0, bytes))).toEqual([410, 'upload_gone'])
    expect((await fresh.head(url.replace(/[^/]+$/, '00000000-0000-7000-8000-000000000000'))).status).toBe(404)
  })
})
