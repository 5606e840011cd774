import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { httpCall } from '../../test/support/http-call.ts'
import { fileIdOf, metadata, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { fileQuery } from '../dashboard/files/file-query.ts'
import { listFiles } from '../dashboard/files/list-files.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'

describe('a Pipe with {path} in its keys', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database, { pipe: { keyTemplate: '{path}/{file_id}/{filename}' } })
    node = await serveUploads(site.runtime)
    client = await site.client(node)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })

  const create = (relativePath: string, body?: Buffer) =>
    client.create(
      body?.length ?? 10,
      { 'Upload-Metadata': metadata({ filename: 'a.jpg', relativePath }) },
      body,
    )
  const seen = async (url: string) =>
    (
      await rows<{ key: string; folder: string | null }>(
        database.db,
        sql`select d.key, f.folder from files f join file_destinations d on d.file_id = f.id where f.id = ${fileIdOf(url)}::uuid`,
      )
    )[0]!
  const put = (path: string, headers: Record<string, string> = {}) =>
    httpCall({
      method: 'PUT',
      url: client.collection + path,
      token: client.token,
      body: randomBytes(5),
      headers,
    })

  it('keeps the folder that a TUS client sends as relativePath', async () => {
    const made = await create('holiday/2026/a.jpg', randomBytes(5))
    const id = fileIdOf(made.headers.location!)
    expect(await seen(id)).toEqual({ key: `holiday/2026/${id}/a.jpg`, folder: 'holiday/2026' })
    expect(await site.bucket.objects()).toContain(`holiday/2026/${id}/a.jpg`)
    const without = await create('null')
    const other = fileIdOf(without.headers.location!)
    expect(await seen(other)).toEqual({ key: `${other}/a.jpg`, folder: null })
  })

  it.each([
    ['a plain request', {}],
    ['Resumable Uploads for HTTP', { 'Upload-Complete': '?1', 'Upload-Draft-Interop-Version': '8' }],
  ])('keeps the folder in the address of %s', async (_, headers) => {
    const made = await put('my%20photos/2026/b.jpg', headers)
    expect(made.status).toBeLessThan(300)
    const id = fileIdOf(made.headers.location!)
    expect(await seen(id)).toEqual({ key: `my photos/2026/${id}/b.jpg`, folder: 'my photos/2026' })
  })

  it('refuses a folder that is too long for a key', async () => {
    for (const relativePath of [`${'abcde/'.repeat(1000)}x`, `${`${'y'.repeat(200)}/`.repeat(3)}x`]) {
      const { status, body } = await create(relativePath)
      expect(status).toBe(400)
      expect(JSON.parse(body)).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining('512'),
      })
    }
    expect((await put('..%2f..%2fetc/x')).status).toBe(201)
    expect((await site.bucket.objects()).filter((key) => /^etc\//.test(key))).toHaveLength(1)
    expect((await put('a%ff/x')).status).toBe(400)
  })

  it('lists the files of a folder', async () => {
    const list = async (folder: string) =>
      (await listFiles(site.runtime, site.actor, parseInput(fileQuery, { folder }))).data.map(
        (file) => file.folder,
      )
    expect(await list('/holiday/2026/')).toEqual(['holiday/2026'])
    expect(await list('holiday')).toEqual([])
  })
})
