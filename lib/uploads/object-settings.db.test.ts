import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { httpCall } from '../../test/support/http-call.ts'
import { seenObject } from '../../test/support/seen-object.ts'
import { fileIdOf, metadata, tusCall } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'

const MiB = 1024 * 1024
const KMS = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
const OBJECT = {
  metadata: { sender: '{sender}', name: '{filename}' },
  cacheControl: 'public, max-age=31536000, immutable',
  contentDisposition: 'attachment',
  storageClass: 'STANDARD_IA',
  tags: { kind: '{ext}', 'cost:center': 'a/b 1' },
  encryption: { type: 'SSE-KMS', keyId: KMS },
  tokensMaySet: ['metadata', 'tags', 'cacheControl'],
}
const NAMED = { 'Upload-Metadata': metadata({ filename: 'Größe "A".MOV', filetype: 'video/quicktime' }) }
/** Settings that no client may choose. */
const FORGED = {
  'Cache-Control': 'no-store',
  'Content-Disposition': 'inline',
  'x-amz-meta-forged': 'yes',
  'x-amz-storage-class': 'GLACIER',
  'x-amz-tagging': 'forged=yes',
  'x-amz-server-side-encryption': 'AES256',
}

describe("a Pipe's object settings", () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    database = await openTestDatabase()
    const actions = ['s3:PutObject', 's3:GetObject', 's3:DeleteObject', 's3:PutObjectTagging'] as const
    site = await createSite(database, {
      bucket: { actions: [...actions] },
      pipe: { object: OBJECT },
    })
    await database.db.execute(
      sql`update data_stores set may_read = true, may_delete = true, updated_at = now() where id = ${site.dataStore.id}::uuid`,
    )
    node = await serveUploads(site.runtime)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })

  async function seen(url: string) {
    const [file] = await rows<{ key: string }>(
      database.db,
      sql`select key from file_destinations where file_id = ${fileIdOf(url)}::uuid`,
    )
    return seenObject(site.bucket, file!.key)
  }
  const expected = {
    ContentType: 'video/quicktime',
    CacheControl: 'public, max-age=31536000, immutable',
    ContentDisposition: `attachment; filename="Gr__e _A_.MOV"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%22A%22.MOV`,
    StorageClass: 'STANDARD_IA',
    ServerSideEncryption: 'aws:kms',
    SSEKMSKeyId: KMS,
    Metadata: { sender: 'Backend', name: '=?UTF-8?B?R3LDtsOfZSAiQSIuTU9W?=' },
    tags: { kind: 'mov', 'cost:center': 'a/b 1' },
  }

  it("apply to a single-part object, and a client's headers cannot change them", async () => {
    const client = await site.client(node)
    const url = await client.begin(1000, { ...NAMED, ...FORGED })
    expect((await client.patch(url, 0, randomBytes(1000), FORGED)).status).toBe(204)
    expect(await seen(url)).toMatchObject(expected)
    const put = await httpCall({
      method: 'PUT',
      url: `${client.collection}a.mov`,
      token: client.token,
      body: randomBytes(10),
      headers: FORGED,
    })
    const { Metadata, ...object } = await seen(put.headers.location!)
    expect(object).toMatchObject({ CacheControl: expected.CacheControl, StorageClass: 'STANDARD_IA' })
    expect(Metadata).toEqual({ sender: 'Backend', name: 'a.mov' })
  })

  it('apply to a multipart object, as they were when the upload started', async () => {
    const client = await site.client(node)
    const bytes = randomBytes(18 * MiB)
    const url = await client.begin(bytes.length, NAMED)
    await client.patch(url, 0, bytes.subarray(0, MiB))
    await database.db.execute(
      sql`update pipes set object = '{"cacheControl":"no-store"}' where id = ${site.pipe.id}`,
    )
    await client.patch(url, MiB, bytes.subarray(MiB))
    await database.db.execute(
      sql`update pipes set object = ${JSON.stringify(OBJECT)}::jsonb where id = ${site.pipe.id}`,
    )
    expect(site.bucket.traffic.counts().CreateMultipartUpload).toBe(1)
    expect(await seen(url)).toMatchObject(expected)
  })

  it('apply to an object that a worker puts after the bucket was down', async () => {
    const client = await site.client(node)
    const url = await client.begin(1000, NAMED)
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    site.bucket.faults.add({ operation: 'PutObject', times: 100, effect })
    await client.patch(url, 0, randomBytes(1000))
    site.bucket.faults.clear()
    expect(await site.statusOf(url)).toBe('transferring')
    site.clock.advance(60_000)
    await reconcileUploads(node.context)
    expect(await seen(url)).toMatchObject(expected)
  })

  it('apply to an object joined from pieces, while the pieces only get the encryption', async () => {
    const client = await site.client(node)
    const piece = async () => {
      const url = await client.begin(6 * MiB, { ...NAMED, 'Upload-Concat': 'partial' })
      await client.patch(url, 0, randomBytes(6 * MiB))
      return url
    }
    const pieces = [await piece(), await piece()]
    expect(await seen(pieces[0]!)).toMatchObject({ SSEKMSKeyId: KMS, tags: {} })
    expect((await seen(pieces[0]!)).CacheControl).toBeUndefined()
    const joined = await tusCall({
      method: 'POST',
      url: client.collection,
      token: client.token,
      headers: { ...NAMED, 'Upload-Concat': `final;${pieces.join(' ')}` },
    })
    expect(joined.status).toBe(201)
    expect(await seen(joined.headers.location!)).toMatchObject(expected)
  })

  it("are overridden and extended by the token's settings if the Pipe allows it", async () => {
    const object = { cacheControl: 'no-cache', metadata: { sender: 'me', order: '7' }, tags: { kind: 'x' } }
    const client = await site.client(node, { object })
    const url = await client.begin(10, NAMED)
    await client.patch(url, 0, randomBytes(10))
    expect(await seen(url)).toMatchObject({
      ...expected,
      CacheControl: 'no-cache',
      Metadata: { ...expected.Metadata, sender: 'me', order: '7' },
      tags: { kind: 'x', 'cost:center': 'a/b 1' },
    })
    await expect(site.token({ object: { storageClass: 'GLACIER' } })).rejects.toMatchObject({
      code: 'invalid_request',
      fields: [{ field: 'object.storageClass', message: expect.stringContaining('tokensMaySet') }],
    })
  })
})

describe('a Pipe that sets nothing', () => {
  it('stores nothing with the file', async () => {
    const database = await openTestDatabase()
    const site = await createSite(database)
    const node = await serveUploads(site.runtime)
    const client = await site.client(node)
    await client.begin(10)
    const [file] = await rows(
      database.db,
      sql`select object, folder, verify_content, declared_crc32 from files`,
    )
    expect(Object.values(file!)).toEqual([null, null, null, null])
    await expect(site.token({ object: { cacheControl: 'no-cache' } })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    await Promise.all([node.close(), site.close()])
    await database.close()
  })
})
