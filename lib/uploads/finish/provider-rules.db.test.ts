import { randomBytes } from 'node:crypto'
import { HeadObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { FoundCapabilities, ProviderName } from '#drizzle/schema/index.ts'
import type { RuleName } from '../../../test/support/bucket-rules.ts'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, metadata, tusCall, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { showFile } from '../../dashboard/files/show-file.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'
import { hours, minutes } from '../../platform/kernel/clock.ts'
import { reconcileUploads } from '../../recovery/reconcile.ts'
import { expireUploads } from '../../recovery/upload-sweeps.ts'

const MiB = 1024 * 1024
const MB = 1_000_000
type Node = Awaited<ReturnType<typeof serveUploads>>

/** Uploads to buckets that follow their provider's rules: see docs/providers.md. */
describe('a bucket with its own rules', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Node
  /** A node that leaves an upload to the reconciler unless the bucket accepts it immediately. */
  let hasty: Node
  let token: string
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database, {
      bucket: { actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'] },
    })
    node = await serveUploads(site.runtime)
    hasty = await serveUploads(site.runtime, { terms: { assembleMs: 300 } })
    token = await site.token()
  })
  afterEach(() => {
    site.bucket.faults.clear()
    site.bucket.rules.clear()
  })
  afterAll(async () => {
    await node?.close()
    await hasty?.close()
    await site?.close()
    await database?.close()
  })

  type Asked = { found?: FoundCapabilities; mayRead?: boolean; rules?: readonly RuleName[] }
  const bucketOf = async (provider: ProviderName, { found, mayRead = true, rules = [] }: Asked = {}) => {
    for (const rule of rules) site.bucket.rules.add(rule)
    await database.db.execute(
      sql`update data_stores set provider = ${provider}, found = ${found ? JSON.stringify(found) : null}::jsonb,
        may_read = ${mayRead}, may_delete = ${mayRead}, updated_at = clock_timestamp()
      where id = ${site.dataStore.id}::uuid`,
    )
  }
  const clientOf = (at: Node) => tusClient({ url: at.url, pipeId: site.pipe.id, token })
  const fileOf = (url: string) => showFile(site.runtime, site.actor, fileIdOf(url))
  const statusOf = async (url: string) => (await fileOf(url)).status

  async function send(bytes: Buffer, { at = node, headers = {} }: { at?: Node; headers?: object } = {}) {
    const client = clientOf(at)
    const url = await client.begin(bytes.length, headers as Record<string, string>)
    const { status } = await client.patch(url, 0, bytes)
    await Promise.all(at.context.background)
    return { url, status }
  }
  const objectOf = (url: string) => site.bucket.object(`${fileIdOf(url)}/file`)
  const expectObject = async (url: string, bytes: Buffer) => {
    expect(await statusOf(url)).toBe('transferred')
    expect((await objectOf(url)).equals(bytes)).toBe(true)
  }
  const reconciled = async (url: string) => {
    site.clock.advance(minutes(1))
    while ((await statusOf(url)) === 'transferring') await reconcileUploads(node.context)
  }
  /** The rules are added once the pieces are uploaded, so they only apply to the join. */
  const join = async (sizes: number[], rules: readonly RuleName[] = []) => {
    const pieces = sizes.map((size) => randomBytes(size))
    const partial = async (bytes: Buffer) =>
      (await send(bytes, { headers: { 'Upload-Concat': 'partial' } })).url
    const urls = await Promise.all(pieces.map(partial))
    const final = {
      'Upload-Concat': `final;${urls.join(' ')}`,
      'Upload-Metadata': metadata({ filename: 'file' }),
    }
    const { collection: url } = clientOf(node)
    for (const rule of rules) site.bucket.rules.add(rule)
    const made = await tusCall({ method: 'POST', url, token, headers: final })
    expect(made.status).toBe(201)
    await Promise.all(node.context.background)
    await expectObject(made.headers.location!, Buffer.concat(pieces))
  }
  const lost = (operation: 'PutObject' | 'CompleteMultipartUpload') =>
    site.bucket.faults.add({ operation, at: 'answer', effect: { kind: 'cut' } })
  const askedFor = (operation: 'PutObject' | 'CompleteMultipartUpload', url: string) =>
    site.bucket.traffic.seen({ operation, key: `${fileIdOf(url)}/file` }).length

  describe('GCS, where put-only keys cannot replace an object', () => {
    it.each([MiB, 9 * MiB])('has an object of %i bytes even if the response was lost', async (size) => {
      await bucketOf('gcs', { rules: ['no-overwrite', 'no-if-none-match'] })
      lost('PutObject')
      lost('CompleteMultipartUpload')
      const bytes = randomBytes(size)
      const { url, status } = await send(bytes)
      expect(status).toBe(204)
      await expectObject(url, bytes)
    })

    it('has one object even if another process requested it again', async () => {
      await bucketOf('gcs', { rules: ['no-overwrite'] })
      site.bucket.faults.add({ operation: 'PutObject', at: 'answer', effect: { kind: 'stall' } })
      const bytes = randomBytes(MiB)
      const { url } = await send(bytes, { at: hasty })
      expect(await statusOf(url)).toBe('transferring')
      await reconciled(url)
      await expectObject(url, bytes)
    })

    it('has no object if PutObject is denied', async () => {
      await bucketOf('gcs')
      const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
      site.bucket.faults.add({ operation: 'PutObject', times: 100, effect })
      const { url, status } = await send(randomBytes(10))
      expect(status).toBe(502)
      expect(await statusOf(url)).toBe('uploading')
    })

    it('offers no concatenation, because it cannot copy parts; other buckets offer it once a check shows that they can', async () => {
      const { collection: url } = clientOf(node)
      const offered = async () => (await tusCall({ method: 'OPTIONS', url })).headers['tus-extension']
      for (const provider of ['hetzner', 'ovh', 'oracle', 'alibaba', 'other', 'gcs'] as const) {
        await bucketOf(provider, { rules: ['no-part-copy'] })
        expect(await offered()).not.toContain('concatenation')
      }
      const refused = await clientOf(node).create(5, { 'Upload-Concat': 'partial' })
      expect(refused.status).toBe(400)
      expect(JSON.parse(refused.body).detail).toContain('cannot copy pieces')
      await bucketOf('other', { found: { copyParts: true } })
      expect(await offered()).toContain('concatenation')
    })
  })

  describe('AWS', () => {
    it('copies small pieces as entire objects, because it cannot copy ranges of them', {
      tags: 'long',
    }, async () => {
      await bucketOf('aws', { rules: ['minimum-copy-source'] })
      await join([10 * MB, 10 * MB, 10 * MB].map((bytes) => Math.ceil(bytes / 3)))
      await join([5 * MiB, 5 * MiB, 6 * MiB])
    })

    it.each([
      ['checksum-required', 'aws', {}],
      ['checksum-required', 'other', { bodyChecksum: 'crc32' }],
      ['content-md5-required', 'aws', { bodyChecksum: 'md5' }],
      ['content-md5-required', 'other', { bodyChecksum: 'md5' }],
      ['md5-or-sdk-header-required', 'other', { bodyChecksum: 'md5' }],
    ] as const)(
      'with an Object Lock (%s) gets the checksum that the check for %s found',
      async (rule, provider, found) => {
        await bucketOf(provider, { found, rules: [rule] })
        for (const size of [10, 9 * MiB]) {
          const bytes = randomBytes(size)
          await expectObject((await send(bytes)).url, bytes)
        }
      },
    )
  })

  describe('MinIO', () => {
    it('joins without checksums, because its copies have none', async () => {
      await bucketOf('minio', { rules: ['no-copy-into-checksums'] })
      await join([6 * MiB, MiB, 7 * MiB], ['no-checksum-headers'])
    })

    it.each(['checksum-required', 'content-md5-required'] as const)(
      'joins with Content-MD5, as Object Lock requires (%s)',
      { tags: 'long' },
      async (rule) => {
        const found: FoundCapabilities = rule === 'content-md5-required' ? { bodyChecksum: 'md5' } : {}
        await bucketOf('minio', { found, rules: ['no-copy-into-checksums', rule] })
        await join([6 * MiB, MiB, 7 * MiB], ['no-checksum-headers'])
      },
    )

    it('from before 2025 gets a checksum for each part if the check found that it requires one', async () => {
      const rules = ['no-full-object-checksum'] as const
      await bucketOf('minio', { found: { fullObjectCrc32: false }, rules })
      const bytes = randomBytes(20 * MiB)
      await expectObject((await send(bytes)).url, bytes)
    })
  })

  it('gets keys whose segments stay within its limit', async () => {
    await bucketOf('minio', { rules: ['short-segments'] })
    const template = (text: string) =>
      database.db.execute(sql`update pipes set key_template = ${text} where id = ${site.pipe.id}`)
    await template('{file_id}-{filename}')
    const Metadata = metadata({ filename: `${'ü'.repeat(130)}.png` })
    const { url, status } = await send(randomBytes(10), { headers: { 'Upload-Metadata': Metadata } })
    await template('{file_id}/{filename}')
    expect(status).toBe(204)
    expect(await statusOf(url)).toBe('transferred')
  })

  it.each([
    ['text/plain;name=a\u0007b', 'text/plain'],
    ['text/plain;name=naïve', 'text/plain'],
    ['video/mp4;codecs="avc1.42E01E, mp4a.40.2"', 'video/mp4; codecs="avc1.42E01E, mp4a.40.2"'],
  ])('accepts a file of type %j', async (filetype, kept) => {
    await bucketOf('minio', { rules: ['well-formed-media-types'] })
    const Metadata = metadata({ filename: 'file', filetype })
    const bytes = randomBytes(9 * MiB)
    const { url } = await send(bytes, { headers: { 'Upload-Metadata': Metadata } })
    await expectObject(url, bytes)
    const { endpoint, region, name: Bucket, key: credentials } = site.bucket
    const s3 = new S3Client({ endpoint, region, credentials, forcePathStyle: true })
    const { ContentType } = await s3.send(new HeadObjectCommand({ Bucket, Key: `${fileIdOf(url)}/file` }))
    expect(ContentType).toBe(kept)
  })

  describe('with unusual responses', () => {
    const refusing = (status: number, code: string, call = 1) =>
      site.bucket.faults.add({
        operation: 'CompleteMultipartUpload',
        call,
        times: 100,
        effect: { kind: 'refuse', status, code },
      })

    it('gets only one request if a 200 contains a permanent error', async () => {
      await bucketOf('minio')
      refusing(200, 'AccessDenied')
      const { url } = await send(randomBytes(9 * MiB))
      expect(await statusOf(url)).toBe('transferring')
      expect(askedFor('CompleteMultipartUpload', url)).toBe(1)
      expect((await fileOf(url)).timeline).toContainEqual(
        expect.objectContaining({ detail: expect.objectContaining({ code: 'AccessDenied' }) }),
      )
    })

    it('fails a file immediately if it does not implement the operation', async () => {
      await bucketOf('minio')
      refusing(501, 'NotImplemented')
      const { url } = await send(randomBytes(9 * MiB))
      expect(askedFor('CompleteMultipartUpload', url)).toBe(1)
      expect(await fileOf(url)).toMatchObject({
        status: 'failed',
        failureReason: expect.stringContaining('NotImplemented'),
      })
    })

    it('counts as having delivered nothing if a 200 has no result', { tags: 'long' }, async () => {
      await bucketOf('minio', { rules: ['complete-without-result'] })
      const bytes = randomBytes(9 * MiB)
      const { url } = await send(bytes)
      expect(await statusOf(url)).toBe('transferring')
      site.bucket.rules.clear()
      await reconciled(url)
      await expectObject(url, bytes)
    })

    it('counts as having stored nothing if a proxy responds with its own page', async () => {
      await bucketOf('minio', { rules: ['html-answers'] })
      const bytes = randomBytes(MiB)
      const { url } = await send(bytes, { at: hasty })
      expect(await statusOf(url)).toBe('transferring')
      expect(await site.bucket.objects()).not.toContain(`${fileIdOf(url)}/file`)
      site.bucket.rules.clear()
      await reconciled(url)
      await expectObject(url, bytes)
    })

    it('does not count as rejecting uploads if it returns 403 for a missing object', async () => {
      await bucketOf('minio')
      site.bucket.faults.add({ operation: 'CompleteMultipartUpload', effect: { kind: 'cut' } })
      refusing(404, 'NoSuchUpload', 2)
      const { url } = await send(randomBytes(9 * MiB))
      expect(await fileOf(url)).toMatchObject({
        status: 'failed',
        failureReason: expect.stringContaining('look for the object'),
      })
      expect((await fileOf(url)).timeline.map(({ kind }) => kind)).not.toContain('bucket_refused')
    })
  })

  it('ends an upload before MinIO drops it, with the reason', async () => {
    await bucketOf('minio', { rules: ['drops-uploads-after-24-hours'] })
    const url = (await clientOf(node).create(20 * MiB)).headers.location!
    expect((await clientOf(node).patch(url, 0, randomBytes(8 * MiB))).status).toBe(204)
    site.clock.advance(hours(23) + minutes(1))
    await expireUploads(node.context)
    expect(await fileOf(url)).toMatchObject({
      status: 'expired',
      failureReason: expect.stringMatching(
        /^The upload was not finished within 23 hours of its start; the bucket deletes/,
      ),
    })
  })
})
