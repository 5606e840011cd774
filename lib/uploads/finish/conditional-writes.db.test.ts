import { randomBytes } from 'node:crypto'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ProviderName } from '#drizzle/schema/index.ts'
import { events } from '#drizzle/schema/index.ts'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, metadata, type TusClient, tusCall, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { showFile } from '../../dashboard/files/show-file.ts'
import { readEventBodies } from '../../events/read-events.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { clearLeftovers } from '../../recovery/clear-leftovers.ts'
import { reconcileUploads } from '../../recovery/reconcile.ts'

const MiB = 1024 * 1024
const RULE = 'if-none-match-required'
const operation = 'CompleteMultipartUpload'

describe('a bucket that supports conditional writes', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let token: string
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    const actions = ['s3:PutObject', 's3:GetObject', 's3:ListBucket', 's3:DeleteObject'] as const
    site = await createSite(database, { bucket: { actions: [...actions, 's3:AbortMultipartUpload'] } })
    node = await serveUploads(site.runtime)
    token = await site.token()
    client = tusClient({ url: node.url, pipeId: site.pipe.id, token })
  })
  beforeEach(() => site.bucket.rules.add(RULE))
  afterEach(() => {
    site.bucket.faults.clear()
    site.bucket.rules.clear()
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })

  const bucketOf = (provider: ProviderName, mayRead = true) =>
    database.db.execute(
      sql`update data_stores set provider = ${provider}, may_read = ${mayRead}, may_delete = ${mayRead},
        updated_at = clock_timestamp() where id = ${site.dataStore.id}::uuid`,
    )
  const keyOf = (url: string) => `${fileIdOf(url)}/file`
  const fileOf = (url: string) => showFile(site.runtime, site.actor, fileIdOf(url))
  const expectObject = async (url: string, bytes: Buffer) => {
    expect((await fileOf(url)).status).toBe('transferred')
    expect((await site.bucket.object(keyOf(url))).equals(bytes)).toBe(true)
  }
  /**
   * The timeline shows how certain it is that the object exists. If that was only inferred, the API and the event show
   * it, too.
   */
  const expectCertainty = async (url: string, certainty: string) => {
    const { timeline, destinations } = await fileOf(url)
    expect(timeline).toContainEqual(expect.objectContaining({ kind: 'completed', detail: { certainty } }))
    const told = certainty === 'inferred' ? certainty : undefined
    expect(destinations[0]!.certainty).toBe(told)
    const [event] = await database.db
      .select()
      .from(events)
      .where(eq(events.fileId, fileIdOf(url)))
    const [sent] = await readEventBodies(database.db, [event!.id])
    expect(JSON.parse(sent!.body).data.destinations[0].certainty).toBe(told)
  }

  async function send(bytes: Buffer, headers: Record<string, string> = {}): Promise<string> {
    const url = await client.begin(bytes.length, headers)
    expect((await client.patch(url, 0, bytes)).status).toBe(204)
    await Promise.all(node.context.background)
    return url
  }
  const sendWhole = async () => {
    const bytes = randomBytes(9 * MiB)
    return { url: await send(bytes), bytes }
  }
  const join = async () => {
    const pieces = [randomBytes(6 * MiB), randomBytes(7 * MiB)]
    const urls = await Promise.all(pieces.map((piece) => send(piece, { 'Upload-Concat': 'partial' })))
    const headers = {
      'Upload-Concat': `final;${urls.join(' ')}`,
      'Upload-Metadata': metadata({ filename: 'file' }),
    }
    const made = await tusCall({ method: 'POST', url: client.collection, token, headers })
    expect(made.status).toBe(201)
    await Promise.all(node.context.background)
    return { url: made.headers.location!, bytes: Buffer.concat(pieces) }
  }

  const losesAnswer = () => site.bucket.faults.add({ operation, at: 'answer', effect: { kind: 'cut' } })
  /** The object exists, but its creator has given up. */
  const leavesUnknown = async (make: typeof join) => {
    losesAnswer()
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    site.bucket.faults.add({ operation, call: 2, effect })
    const made = await make()
    expect((await fileOf(made.url)).status).toBe('transferring')
    return made
  }
  const reconciled = async () => {
    site.clock.advance(minutes(1))
    await reconcileUploads(node.context)
  }

  it.each([
    [true, 'confirmed'],
    [false, 'inferred'],
  ])('has one object per file (may read: %s, which makes it %s)', async (mayRead, certainty) => {
    await bucketOf('aws', mayRead)
    site.bucket.faults.add({ operation: 'PutObject', at: 'answer', effect: { kind: 'cut' } })
    const small = randomBytes(10)
    const url = await send(small)
    await expectObject(url, small)
    await expectCertainty(url, certainty)
    losesAnswer()
    const large = await sendWhole()
    await expectObject(large.url, large.bytes)
    await expectCertainty(large.url, certainty)
  })

  it('is not believed if it reports an object that it does not have, and gets the object later', async () => {
    await bucketOf('aws')
    const effect = { kind: 'refuse', status: 412, code: 'PreconditionFailed' } as const
    site.bucket.faults.add({ operation: 'PutObject', effect })
    const small = randomBytes(10)
    const url = await send(small)
    expect((await fileOf(url)).status).toBe('transferring')
    await reconciled()
    await expectObject(url, small)
    await expectCertainty(url, 'answered')
  })

  it.each([
    [true, 'confirmed'],
    [false, 'inferred'],
  ])('keeps what another process completed (may read: %s, which makes it %s)', async (mayRead, certainty) => {
    await bucketOf('aws', mayRead)
    const { url, bytes } = await leavesUnknown(sendWhole)
    await reconciled()
    await expectObject(url, bytes)
    await expectCertainty(url, certainty)
  })

  it('has no multipart upload left if the object was already there', async () => {
    await bucketOf('aws')
    const bytes = randomBytes(9 * MiB)
    const url = await client.begin(bytes.length)
    await site.bucket.replace(keyOf(url), bytes)
    expect((await client.patch(url, 0, bytes)).status).toBe(204)
    await Promise.all(node.context.background)
    await expectCertainty(url, 'confirmed')
    expect(await site.bucket.unfinished()).toHaveLength(1)
    site.clock.advance(minutes(1))
    await clearLeftovers(node.context)
    expect(await site.bucket.unfinished()).toEqual([])
    await expectObject(url, bytes)
  })

  it('joins pieces once, and leaves no multipart upload unfinished', { tags: 'long' }, async () => {
    await bucketOf('aws')
    losesAnswer()
    const once = await join()
    await expectObject(once.url, once.bytes)
    const again = await leavesUnknown(join)
    await reconciled()
    await expectObject(again.url, again.bytes)
    expect(await site.bucket.unfinished()).toEqual([])
  })

  it.each([
    ['a file', sendWhole],
    ['a joined file', join],
  ])('does not mistake an object of another size for %s', { tags: 'long' }, async (_, make) => {
    await bucketOf('aws')
    const { url } = await leavesUnknown(make)
    const { endpoint, region, name: Bucket, key: credentials } = site.bucket
    const s3 = new S3Client({ endpoint, region, credentials, forcePathStyle: true })
    site.bucket.rules.clear()
    await s3.send(new PutObjectCommand({ Bucket, Key: keyOf(url), Body: 'another' }))
    site.bucket.rules.add(RULE)
    await reconciled()
    expect((await fileOf(url)).status).toBe('transferring')
  })

  it.each(['b2', 'gcs'] as const)(
    'gets requests without conditions if its provider, such as %s, does not support any',
    async (provider) => {
      await bucketOf(provider)
      site.bucket.rules.clear()
      site.bucket.rules.add('no-if-none-match')
      const small = randomBytes(10)
      await expectObject(await send(small), small)
      const { url, bytes } = await sendWhole()
      await expectObject(url, bytes)
    },
  )
})
