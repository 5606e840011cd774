import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, metadata, type TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'

const MiB = 1024 * 1024

describeWithDatabase('uploads', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient

  beforeAll(async () => {
    site = await createSite(database())
    node = await serveUploads(site.runtime)
    client = await site.client(node)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })
  const objectOf = (location: string, name = 'file') => site.bucket.object(`${fileIdOf(location)}/${name}`)

  it('store a single-part file with a single request to the bucket', async () => {
    const bytes = randomBytes(4096)
    const before = site.bucket.traffic.counts()
    const made = await client.create(4096, { 'Upload-Metadata': metadata({ filename: 'a.bin' }) }, bytes)
    expect(made).toMatchObject({ status: 201, headers: { 'upload-offset': '4096' } })
    expect(await objectOf(made.headers.location!, 'a.bin')).toEqual(bytes)
    expect(site.bucket.traffic.counts()).toEqual({ ...before, PutObject: (before.PutObject ?? 0) + 1 })
    expect(await client.head(made.headers.location!)).toMatchObject({
      status: 200,
      headers: { 'upload-offset': '4096', 'upload-length': '4096' },
    })
  })

  it('accept an empty file', async () => {
    const made = await client.create(0)
    expect(made.status).toBe(201)
    expect(await objectOf(made.headers.location!)).toHaveLength(0)
  })

  it('store 20 MiB as an object of three parts', async () => {
    const bytes = randomBytes(20 * MiB)
    const before = site.bucket.traffic.counts()
    const made = await client.create(bytes.length)
    const url = made.headers.location!
    const done = await client.patch(url, 0, bytes)
    expect(done).toMatchObject({ status: 204, headers: { 'upload-offset': String(bytes.length) } })
    expect((await objectOf(url)).equals(bytes)).toBe(true)
    const after = site.bucket.traffic.counts()
    expect((after.UploadPart ?? 0) - (before.UploadPart ?? 0)).toBe(3)
    expect(await site.bucket.unfinished()).toEqual([])
  })

  it('combine ten chunks of 1 MiB into an object', { tags: 'long' }, async () => {
    const bytes = randomBytes(10 * MiB)
    const made = await client.create(bytes.length)
    const url = made.headers.location!
    for (let at = 0; at < bytes.length; at += MiB) {
      const done = await client.patch(url, at, bytes.subarray(at, at + MiB))
      expect(done).toMatchObject({ status: 204, headers: { 'upload-offset': String(at + MiB) } })
    }
    expect((await objectOf(url)).equals(bytes)).toBe(true)
  })

  it('accept a deferred length at the end', async () => {
    const bytes = randomBytes(9 * MiB)
    const made = await client.create(null)
    const url = made.headers.location!
    await client.patch(url, 0, bytes)
    expect(await client.head(url)).toMatchObject({ headers: { 'upload-defer-length': '1' } })
    const done = await client.patch(url, bytes.length, Buffer.alloc(0), {
      'Upload-Length': String(bytes.length),
    })
    expect(done.status).toBe(204)
    expect((await objectOf(url)).equals(bytes)).toBe(true)
  })
})
