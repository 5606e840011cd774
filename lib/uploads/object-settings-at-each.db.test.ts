/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { seenObject } from '../../test/support/seen-object.ts'
import { fileIdOf, metadata, tusCall } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads, type TestBucket } from '../../test/support/upload-site.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import type { DatabaseHandle } from '../platform/db/database.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { repairDestinations } from '../repairs/repair-destinations.ts'

const MiB = 1024 * 1024
const KEY = { type: 'SSE-KMS', keyId: 'key-of-the-first' }
const OBJECT = { cacheControl: 'no-cache', tags: { kind: '{ext}' }, encryption: { type: 'SSE-S3' } }
/** The file's settings, with their placeholders filled in. */
const OF_FILE = { ...OBJECT, tags: { kind: 'bin' } }
const ACTIONS = ['s3:PutObject', 's3:GetObject', 's3:DeleteObject', 's3:PutObjectTagging'] as const

describe('the object settings of a file with several destinations', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let buckets: TestBucket[]
  beforeAll(async () => {
    database = await openTestDatabase()
    const bucket = () => ({ actions: [...ACTIONS] })
    site = await createSite(database, {
      bucket: bucket(),
      pipe: { object: OBJECT },
      copies: [true, false].map((required) => ({ required, bucket: bucket() })),
    })
    await database.db.execute(sql`update data_stores set may_read = true, may_delete = true`)
    node = await serveUploads(site.runtime, { terms: { trailMs: 3000, pollMs: 20 } })
    buckets = [site.bucket, ...site.copies.map((one) => one.bucket)]
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })
  beforeEach(async () => {
    for (const { faults } of buckets) faults.clear()
    await keep(0, { storageClass: 'GLACIER', encryption: KEY })
    await keep(1, {})
    await keep(2, { storageClass: 'STANDARD_IA', encryption: { type: 'SSE-S3' } })
  })

  type Kept = { storageClass?: string; encryption?: object }
  const storeAt = (n: number) => [site.dataStore, ...site.copies.map((one) => one.dataStore)][n]!
  const keep = (n: number, { storageClass = undefined, encryption }: Kept) =>
    database.db.execute(sql`update data_stores set storage_class = ${storageClass ?? null},
      encryption = ${encryption ? JSON.stringify(encryption) : null}::jsonb, updated_at = clock_timestamp()
      where id = ${storeAt(n).id}::uuid`)
  const settled = async () => {
    while (node.context.background.size > 0) await Promise.allSettled([...node.context.background])
  }
  const shown = async (url: string) => {
    await settled()
    return showFile(site.runtime, site.actor, fileIdOf(url))
  }
  const told = async (url: string) => (await shown(url)).destinations.map(({ object }) => object)
  /** Each bucket's objects, with settings as the API names them. */
  const seen = async (url: string) => {
    const { destinations } = await shown(url)
    return Promise.all(
      destinations.map(async ({ key }, n) => {
        const { CacheControl, StorageClass, ServerSideEncryption, SSEKMSKeyId, tags } = await seenObject(
          buckets[n]!,
          key,
        )
        const isKms = ServerSideEncryption === 'aws:kms'
        return {
          cacheControl: CacheControl,
          tags,
          encryption: isKms ? { type: 'SSE-KMS', keyId: SSEKMSKeyId } : { type: 'SSE-S3' },
          ...(StorageClass && { storageClass: StorageClass }),
        }
      }),
    )
  }
  const EACH = [
    { ...OF_FILE, storageClass: 'GLACIER', encryption: KEY },
    OF_FILE,
    { ...OF_FILE, storageClass: 'STANDARD_IA' },
  ]
  const upload = async (bytes: number) => {
    const client = await site.client(node)
    const named = { 'Upload-Metadata': metadata({ filename: 'a.bin' }) }
    const url = await client.begin(bytes, named)
    if (bytes > 0) await client.patch(url, 0, randomBytes(bytes))
    return url
  }

  it.each([
    ['no bytes', 0],
    ['one part', 1000],
    ['several parts', 18 * MiB],
  ])(
    'are shown as applied at each destination, for %s, whatever its Data Store sets later',
    async (_, bytes) => {
      const url = await upload(bytes)
      expect(await told(url)).toEqual(EACH)
      await keep(0, { storageClass: 'ONEZONE_IA' })
      expect(await told(url)).toEqual(EACH)
      expect(await seen(url)).toEqual(EACH)
      expect((await shown(url)).object).toEqual(OF_FILE)
    },
  )

  it('are shown for an object that a worker puts after a bucket was down', async () => {
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    buckets[1]!.faults.add({ operation: 'PutObject', times: 100, effect })
    const url = await upload(1000)
    expect((await shown(url)).status).toBe('transferring')
    buckets[1]!.faults.clear()
    await keep(1, { storageClass: 'ONEZONE_IA' })
    site.clock.advance(60_000)
    await reconcileUploads(node.context)
    expect((await told(url))[1]).toEqual({ ...OF_FILE, storageClass: 'ONEZONE_IA' })
    expect((await seen(url))[1]).toEqual({ ...OF_FILE, storageClass: 'ONEZONE_IA' })
  })

  it.each([
    ['one part', 1000],
    ['several parts', 18 * MiB],
  ])('are those at the time of the repair, for %s, if one destination had refused them', async (_, bytes) => {
    const effect = { kind: 'refuse', status: 501, code: 'NotImplemented' } as const
    buckets[2]!.faults.add({ operation: 'any', times: 100, effect })
    const url = await upload(bytes)
    const before = await shown(url)
    expect(before.status).toBe('partially_transferred')
    expect(before.destinations.map(({ object }) => object)).toEqual([...EACH.slice(0, 2), undefined])
    expect(before.destinations[2]!.reason).toBeDefined()
    buckets[2]!.faults.clear()
    await keep(2, { storageClass: 'GLACIER_IR' })
    site.clock.advance(minutes(2))
    while ((await repairDestinations(node.context)) > 0) await settled()
    const after = [...EACH.slice(0, 2), { ...OF_FILE, storageClass: 'GLACIER_IR' }]
    expect(await told(url)).toEqual(after)
    expect(await seen(url)).toEqual(after)
  })

  it('are shown for a file that is joined from pieces', async () => {
    const client = await site.client(node)
    const piece = async () => {
      const url = await client.begin(6 * MiB, { 'Upload-Concat': 'partial' })
      await client.patch(url, 0, randomBytes(6 * MiB))
      return url
    }
    const pieces = [await piece(), await piece()]
    await settled()
    const joined = await tusCall({
      method: 'POST',
      url: client.collection,
      token: client.token,
      headers: {
        'Upload-Metadata': metadata({ filename: 'a.bin' }),
        'Upload-Concat': `final;${pieces.join(' ')}`,
      },
    })
    expect(joined.status).toBe(201)
    expect(await told(joined.headers.location!)).toEqual(EACH)
    expect(await seen(joined.headers.location!)).toEqual(EACH)
  })
})

it('are absent for a file that has none', async () => {
  const database = await openTestDatabase()
  const site = await createSite(database)
  const node = await serveUploads(site.runtime)
  const client = await site.client(node)
  const url = await client.begin(10)
  await client.patch(url, 0, randomBytes(10))
  const [destination] = (await showFile(site.runtime, site.actor, fileIdOf(url))).destinations
  expect(destination).toMatchObject({ status: 'transferred' })
  expect(destination).not.toHaveProperty('object')
  await Promise.all([node.close(), site.close()])
  await database.close()
})
