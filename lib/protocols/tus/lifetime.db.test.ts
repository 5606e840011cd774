import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, openPatch, type TusClient, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../../platform/db/database.ts'
import { days, hours } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { createPipe } from '../../workspace/pipes/create-pipe.ts'
import { pipeInput } from '../../workspace/pipes/pipe.ts'

let database: DatabaseHandle
let site: Site
let node: Awaited<ReturnType<typeof serveUploads>>
let client: TusClient
let token: string

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  node = await serveUploads(site.runtime)
  token = await site.token()
  client = tusClient({ url: node.url, pipeId: site.pipe.id, token })
})
afterAll(async () => {
  await node?.close()
  await site?.close()
  await database?.close()
})

/** Gets a new token once the clock has passed the old token's expiry. */
const renew = async () => {
  token = await site.token()
  client = tusClient({ url: node.url, pipeId: site.pipe.id, token })
}
const codeOf = ({ status, body }: { status: number; body: string }) => [status, JSON.parse(body).code]
const bytes = randomBytes(1000)
const begin = async (length: number | null = 1000, headers: Record<string, string> = {}) =>
  await client.begin(length, headers)
const _otherPipe = async (fields: Record<string, unknown>) => {
  const input = { name: 'Other', dataStoreId: site.dataStore.id, source: { http: true }, ...fields }
  const pipe = await createPipe(site.runtime, site.actor, parseInput(pipeInput, input))
  const token = await site.token({ pipeId: pipe.id })
  return tusClient({ url: node.url, pipeId: pipe.id, token })
}

describe('expiry', () => {
  const expiryOf = async (url: string) => {
    const look = sql`select expires_at::text as at from files where id = ${fileIdOf(url)}::uuid`
    const [row] = await rows<{ at: string }>(database.db, look)
    return new Date(Math.floor(Date.parse(row!.at) / 1000) * 1000).toUTCString()
  }

  it('is postponed by new bytes, but not by an empty PATCH, and each response matches the database', async () => {
    const made = await client.create(1000, {}, bytes.subarray(0, 100))
    const url = made.headers.location!
    expect(made.headers['upload-expires']).toBe(await expiryOf(url))
    site.clock.advance(hours(1))
    await renew()
    const empty = await client.patch(url, 100, Buffer.alloc(0))
    expect(empty.headers['upload-expires']).toBe(made.headers['upload-expires'])
    expect(empty.headers['upload-expires']).toBe(await expiryOf(url))
    const more = await client.patch(url, 100, bytes.subarray(100, 200))
    expect(more.headers['upload-expires']).not.toBe(made.headers['upload-expires'])
    expect(more.headers['upload-expires']).toBe(await expiryOf(url))
  })

  const whileWritten = async () => {
    const url = await begin()
    const patch = openPatch(client, url, { offset: 0, length: 1000 })
    await patch.write(bytes.subarray(0, 500))
    const leased = sql`update files set expires_at = now() - interval '1 day'
      where id = ${fileIdOf(url)}::uuid and lease_until is not null returning id`
    while ((await rows(database.db, leased)).length === 0);
    return url
  }

  it('is checked by HEAD only once an active writer that postpones it has stopped', async () => {
    const url = await whileWritten()
    expect(await client.head(url)).toMatchObject({ status: 200, headers: { 'upload-offset': '500' } })
  })

  it('is checked by PATCH only once an active writer that postpones it has stopped', async () => {
    const url = await whileWritten()
    expect(codeOf(await client.patch(url, 0, bytes))).toEqual([409, 'offset_conflict'])
  })
})

describe('resumes', () => {
  const patch = async (url: string, from: number, to: number) =>
    (await client.patch(url, from, bytes.subarray(from, to))).status
  const counted = async (url: string) => {
    const id = fileIdOf(url)
    const [row] = await rows<{ resumeCount: number; savedBytes: number; asked: number }>(
      database.db,
      sql`select resume_count as "resumeCount", saved_bytes as "savedBytes",
        (select count(*)::int from file_timeline where file_id = f.id and kind = 'offset_asked') as asked
        from files f where id = ${id}::uuid`,
    )
    return row
  }

  it('are counted for a client that requests the offset between two complete requests, but only once', async () => {
    const url = await begin()
    await client.head(url)
    expect(await patch(url, 0, 300)).toBe(204)
    expect(await patch(url, 300, 400)).toBe(204)
    expect(await counted(url)).toEqual({ resumeCount: 0, savedBytes: 0, asked: 0 })
    for (let asked = 0; asked < 3; asked += 1) await client.head(url)
    expect(await patch(url, 400, 1000)).toBe(204)
    await client.head(url)
    expect(await counted(url)).toEqual({ resumeCount: 1, savedBytes: 400, asked: 1 })
  })
})
describe('the end of an upload', () => {
  it('DELETE terminates the upload, and later requests return 410', async () => {
    const url = await begin()
    await client.patch(url, 0, bytes.subarray(0, 10))
    expect((await client.terminate(url)).status).toBe(204)
    const head = await client.head(url)
    expect(head.status).toBe(410)
    expect(head.headers['upload-offset']).toBeUndefined()
    expect(codeOf(await client.patch(url, 10, bytes))).toEqual([410, 'upload_gone'])
    expect(codeOf(await client.terminate(url))).toEqual([410, 'upload_gone'])
  })

  it('DELETE of a finished upload retires its address and keeps the object', async () => {
    const made = await client.create(1000, {}, bytes)
    const url = made.headers.location!
    expect((await client.terminate(url)).status).toBe(204)
    expect((await client.head(url)).status).toBe(410)
    expect(await site.bucket.object(`${fileIdOf(url)}/file`)).toEqual(bytes)
  })

  it('returns 410 for an expired upload, and 404 for one that never existed', async () => {
    const url = await begin()
    site.clock.advance(days(8))
    const fresh = await site.client(node)
    expect((await fresh.head(url)).status).toBe(410)
    expect(codeOf(await fresh.patch(url, 0, bytes))).toEqual([410, 'upload_gone'])
    expect((await fresh.head(url.replace(/[^/]+$/, '00000000-0000-7000-8000-000000000000'))).status).toBe(404)
    client = fresh
  })
})
