import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { fileIdOf } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { rows } from '../../platform/db/database.ts'
import { createUpload } from '../opening/create-upload.ts'

const named = (name: string) => ({ 'Upload-Metadata': `filename ${Buffer.from(name).toString('base64')}` })

describeWithDatabase('a repeated creation, with a token that allows no more files', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    site = await createSite(database())
    node = await serveUploads(site.runtime)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })
  const clientFor = (maxFiles: number) => site.client(node, { maxFiles })
  type Client = Awaited<ReturnType<typeof clientFor>>
  const create = async (client: Client, name = 'film.mp4', bytes = 1000) => {
    const { status, headers } = await client.create(bytes, named(name))
    return { status, url: headers.location ?? '' }
  }
  const reserved = async () => {
    const look = sql`select coalesce(sum(reserved_bytes), 0)::bigint as bytes from usage_months
      where workspace_id = ${site.workspaceId}::uuid`
    return (await rows<{ bytes: number }>(database().db, look))[0]!.bytes
  }

  it('replaces an upload whose address never reached the client', async () => {
    const client = await clientFor(1)
    const before = await reserved()
    const lost = await create(client)
    const again = await create(client)
    expect([lost.status, again.status]).toEqual([201, 201])
    expect((await client.head(lost.url)).status).toBe(410)
    expect(await reserved()).toBe(before + 1000)
    expect((await client.patch(again.url, 0, Buffer.alloc(1000))).status).toBe(204)
    expect((await create(client)).status).toBe(403)
    const events = sql`select 1 from events where file_id = ${fileIdOf(lost.url)}::uuid`
    expect(await rows(database().db, events)).toEqual([])
  })

  it('replaces only an upload of the same file that no client has returned to', async () => {
    const client = await clientFor(2)
    const [film, song] = [await create(client), await create(client, 'song.mp3')]
    expect((await create(client, 'third.mp4')).status).toBe(403)
    expect((await create(client, 'film.mp4', 1001)).status).toBe(403)
    // Both uploads are in use: one has received two PATCH requests, and the other has received one.
    expect((await client.patch(film.url, 0, Buffer.alloc(10))).status).toBe(204)
    expect((await client.patch(film.url, 10, Buffer.alloc(10))).status).toBe(204)
    expect((await client.patch(song.url, 0, Buffer.alloc(10))).status).toBe(204)
    expect((await create(client)).status).toBe(403)
    expect((await create(client, 'song.mp3')).status).toBe(403)
    for (const { url } of [film, song]) expect((await client.head(url)).status).toBe(200)
  })

  it('replaces an upload whose node died while creating it, once its lease has expired', async () => {
    const { context } = node
    const right = await context.rights.toCreate(await site.token({ maxFiles: 1 }), site.pipe.id, 'tus')
    const declared = {
      filename: 'film.mp4',
      filetype: null,
      uploadMetadataHeader: null,
      uploadMetadata: {},
      lengthBytes: 1000,
      concat: null,
      protocol: 'tus' as const,
    }
    const create = () => createUpload(context, right, declared, { bytes: 1000 })
    const killed = await create()
    await expect(create()).rejects.toMatchObject({ code: 'token_exhausted' })
    await database().db.execute(
      sql`update files set lease_until = now() - interval '1 second', offset_bytes = 10 where id = ${killed.fileId}::uuid`,
    )
    const again = await create()
    const look = sql`select status, (select count(*)::int from events where file_id = f.id) as events
      from files f where id = ${killed.fileId}::uuid`
    expect(await rows(database().db, look)).toEqual([{ status: 'canceled', events: 1 }])
    for (const { upload } of [killed, again]) upload!.lease.forget()
  })
})
