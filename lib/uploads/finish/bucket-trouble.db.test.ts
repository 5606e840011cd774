import { createHash, randomBytes } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { webhookOutputs } from '#drizzle/schema/index.ts'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, openPatch, type TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { addOutput } from '../../../test/support/webhook-rows.ts'
import { BucketError } from '../../buckets/bucket-error.ts'
import { showFile } from '../../dashboard/files/show-file.ts'
import { type DatabaseHandle, rows } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { reconcileUploads } from '../../recovery/reconcile.ts'
import { forgetRejections, listRejecting } from '../../workspace/data-stores/rejections.ts'
import { advance } from '../ledger/offsets.ts'
import { openUpload } from '../opening/open-upload.ts'
import { PartBuffer } from '../stream/part-buffer.ts'
import { Parts } from '../stream/parts.ts'
import { recoverFromFault } from './recover-from-fault.ts'

const MiB = 1024 * 1024
type Node = Awaited<ReturnType<typeof serveUploads>>

describe('a failing bucket', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Node
  let client: TusClient
  /** A node that leaves an upload to the reconciler unless the bucket accepts it immediately. */
  let impatient: Node
  let hasty: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    node = await serveUploads(site.runtime)
    client = await site.client(node)
    impatient = await serveUploads(site.runtime, { terms: { assembleMs: 300 } })
    hasty = await site.client(impatient)
  })
  afterEach(() => site.bucket.faults.clear())
  afterAll(async () => {
    await node?.close()
    await impatient?.close()
    await site?.close()
    await database?.close()
  })
  const objectIs = async (url: string, whole: Buffer) => {
    await Promise.all(node.context.background)
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
    expect(await site.statusOf(url)).toBe('transferred')
    expect(await site.bucket.unfinished()).toEqual([])
  }
  const timelineOf = async (url: string) => (await showFile(site.runtime, site.actor, fileIdOf(url))).timeline
  const uploadBytes = async () => (await site.runtime.metrics.uploadBytes.get()).values[0]!.value
  const slowDown = { kind: 'refuse', status: 503, code: 'SlowDown' } as const

  it.each([
    ['500', { kind: 'refuse', status: 500, code: 'InternalError' }],
    ['503 SlowDown', slowDown],
    ['a cut connection', { kind: 'cut' }],
  ] as const)('%s on the second of three parts is retried from its buffer', async (_, effect) => {
    const whole = randomBytes(20 * MiB)
    const url = await client.begin(whole.length)
    site.bucket.faults.add({ operation: 'UploadPart', partNumber: 2, times: 2, at: 'body', effect })
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    await objectIs(url, whole)
  })

  it('marks the Data Store as rejecting, with the reason, until the bucket accepts uploads again', async () => {
    const recheck = () => {
      site.clock.advance(minutes(1))
      return forgetRejections(site.runtime)
    }
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    site.bucket.faults.add({ operation: 'PutObject', times: 100, effect })
    const since = site.clock.now()
    expect(await listRejecting(site.runtime, site.actor)).toEqual([])
    const refuse = async () => (await client.patch(await client.begin(10), 0, randomBytes(10))).status
    expect(await Promise.all([refuse(), refuse(), refuse()])).toEqual([502, 502, 502])
    expect(await listRejecting(site.runtime, site.actor)).toEqual([
      {
        id: site.dataStore.id,
        name: 'Bucket',
        since: expect.any(Date),
        reason: expect.stringContaining('AccessDenied'),
      },
    ])
    await recheck()
    const [still] = await listRejecting(site.runtime, site.actor)
    expect(still!.since.getTime()).toBeGreaterThanOrEqual(since)
    site.bucket.faults.clear()
    const before = site.bucket.traffic.counts()
    await recheck()
    expect(await listRejecting(site.runtime, site.actor)).toHaveLength(1)
    expect(site.bucket.traffic.counts()).toEqual(before)
    expect((await client.patch(await client.begin(10), 0, randomBytes(10))).status).toBe(204)
    await recheck()
    expect(await listRejecting(site.runtime, site.actor)).toEqual([])
    expect(await recheck()).toBe(0)
  })

  it('leaves a part that it never accepts in the tail, with the right offset', async () => {
    const whole = randomBytes(25 * MiB)
    const url = await client.begin(whole.length)
    site.bucket.faults.add({ operation: 'UploadPart', partNumber: 2, times: 100, effect: slowDown })
    const counted = await uploadBytes()
    const reply = await client.patch(url, 0, whole)
    expect(reply.status).toBe(502)
    expect(JSON.parse(reply.body)).toMatchObject({
      code: 'bucket_refused',
      detail: expect.stringContaining('SlowDown'),
    })
    expect(await uploadBytes()).toBe(counted + 16 * MiB)
    site.bucket.faults.clear()
    const offset = await client.offset(url)
    expect(offset).toBe(16 * MiB)
    expect((await client.patch(url, offset, whole.subarray(offset))).status).toBe(204)
    await objectIs(url, whole)
  })

  it.each(['CompleteMultipartUpload', 'PutObject'] as const)(
    'lets the reconciler retry a %s that keeps failing',
    async (operation) => {
      const whole = randomBytes(operation === 'PutObject' ? MiB : 9 * MiB)
      const url = await hasty.begin(whole.length)
      site.bucket.faults.add({
        operation,
        times: 100,
        effect: { kind: 'refuse', status: 200, code: 'InternalError' },
      })
      if (operation === 'PutObject') site.bucket.faults.add({ operation, times: 100, effect: slowDown })
      expect((await hasty.patch(url, 0, whole)).status).toBe(204)
      expect(await hasty.offset(url)).toBe(whole.length)
      await Promise.all(impatient.context.background)
      expect(await site.statusOf(url)).toBe('transferring')
      site.bucket.faults.clear()
      site.clock.advance(60_000)
      while ((await site.statusOf(url)) !== 'transferred') await reconcileUploads(node.context)
      await objectIs(url, whole)
    },
  )

  it('records the X-Request-Id of a failing request with its consequences', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const whole = randomBytes(20 * MiB)
    const output = await addOutput(database.db, 'http://127.0.0.1:1/', {
      workspaceId: site.workspaceId,
      pipeId: site.pipe.id,
    })
    const url = await client.begin(whole.length)
    site.bucket.faults.add({ operation: 'UploadPart', partNumber: 2, times: 100, effect: slowDown })
    expect((await client.patch(url, 0, whole, { 'X-Request-Id': 'the-failing-one' })).status).toBe(502)
    site.bucket.faults.clear()
    const { timeline } = await showFile(site.runtime, site.actor, fileIdOf(url))
    const refused = timeline.find(({ kind }) => kind === 'bucket_refused')
    expect(refused!.detail).toMatchObject({ requestId: 'the-failing-one' })
    const offset = await client.offset(url)
    const last = { 'X-Request-Id': 'the-last-one', Traceparent: traceparent }
    expect((await client.patch(url, offset, whole.subarray(offset), last)).status).toBe(204)
    const look = sql`select request_id as "requestId", traceparent from events where file_id = ${fileIdOf(url)}::uuid`
    expect(await rows(database.db, look)).toEqual([{ requestId: 'the-last-one', traceparent }])
    await database.db.delete(webhookOutputs).where(eq(webhookOutputs.id, output.id))
  })

  it('causes a retry if a 200 to Complete contains an error', async () => {
    const whole = randomBytes(9 * MiB)
    const url = await client.begin(whole.length)
    const effect = { kind: 'refuse', status: 200, code: 'InternalError' } as const
    site.bucket.faults.add({ operation: 'CompleteMultipartUpload', times: 1, effect })
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    await Promise.all(node.context.background)
    await objectIs(url, whole)
  })

  it('completes the upload once even if the response to Complete is lost', async () => {
    const whole = randomBytes(9 * MiB)
    const url = await client.begin(whole.length)
    site.bucket.faults.add({ operation: 'CompleteMultipartUpload', at: 'answer', effect: { kind: 'cut' } })
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    await Promise.all(node.context.background)
    await objectIs(url, whole)
  })

  it('stores the object once even if the response to PutObject is lost', async () => {
    const whole = randomBytes(MiB)
    const url = await client.begin(whole.length)
    site.bucket.faults.add({ operation: 'PutObject', at: 'answer', effect: { kind: 'cut' } })
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    await objectIs(url, whole)
  })

  it('returns 502 for a refusal, with the reason and without secrets, and keeps the offset', async () => {
    const whole = randomBytes(MiB)
    const url = await client.begin(whole.length)
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    site.bucket.faults.add({ operation: 'PutObject', effect })
    const reply = await client.patch(url, 0, whole)
    expect(reply.status).toBe(502)
    expect(reply.body).toContain('AccessDenied')
    expect(reply.body).not.toContain('secret')
    expect(await client.offset(url)).toBe(0)
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    await objectIs(url, whole)
  })

  it('shows refusals in the timeline, once per reason however often they are retried', async () => {
    const whole = randomBytes(MiB)
    const url = await client.begin(whole.length)
    const codes = ['AccessDenied', 'AccessDenied', 'NoSuchBucket', 'AccessDenied']
    for (const code of codes) {
      site.bucket.faults.add({ operation: 'PutObject', effect: { kind: 'refuse', status: 403, code } })
      expect((await client.patch(url, 0, whole)).status).toBe(502)
    }
    const refusal = (code: string, times: number) => ({
      kind: 'bucket_refused',
      detail: { code, times, offsetBytes: 0, reason: expect.stringContaining(`403 ${code}`) },
    })
    const before = [{ kind: 'token_issued' }, { kind: 'created' }]
    const repeated = [refusal('AccessDenied', 3), refusal('NoSuchBucket', 1)]
    expect(await timelineOf(url)).toMatchObject([...before, ...repeated])
    await client.patch(url, 0, whole.subarray(0, 1000))
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    site.bucket.faults.add({ operation: 'PutObject', effect })
    expect((await client.patch(url, 1000, whole.subarray(1000))).status).toBe(502)
    expect((await client.patch(url, 1000, whole.subarray(1000))).status).toBe(204)
    const later = [{ kind: 'request' }, { kind: 'bucket_refused', detail: { times: 1, offsetBytes: 1000 } }]
    expect(await timelineOf(url)).toMatchObject([...before, ...repeated, ...later, { kind: 'completed' }])
  })

  it('does not fill the timeline if the bucket keeps giving new reasons', async () => {
    const url = await client.begin(4)
    for (let n = 0; n < 12; n += 1) {
      const effect = { kind: 'refuse', status: 400, code: `Reason${n}` } as const
      site.bucket.faults.add({ operation: 'PutObject', effect })
      expect((await client.patch(url, 0, Buffer.from('four'))).status).toBe(502)
    }
    expect((await timelineOf(url)).filter(({ kind }) => kind === 'bucket_refused')).toHaveLength(10)
  })

  it('shows in the timeline why the object does not exist yet', async () => {
    const whole = randomBytes(9 * MiB)
    const url = await client.begin(whole.length)
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    site.bucket.faults.add({ operation: 'CompleteMultipartUpload', effect })
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    await Promise.all(node.context.background)
    expect((await timelineOf(url)).at(-1)).toMatchObject({ kind: 'bucket_refused' })
    site.clock.advance(60_000)
    while ((await site.statusOf(url)) !== 'transferred') await reconcileUploads(node.context)
    await objectIs(url, whole)
  })

  it('keeps no bytes in the tail of a body with a checksum, which takes effect entirely or not at all', async () => {
    const whole = randomBytes(20 * MiB)
    const url = await client.begin(whole.length)
    site.bucket.faults.add({ operation: 'UploadPart', partNumber: 2, times: 100, effect: slowDown })
    const checksum = { 'Upload-Checksum': `sha1 ${createHash('sha1').update(whole).digest('base64')}` }
    const patch = openPatch(client, url, { offset: 0, length: whole.length, headers: checksum })
    await patch.write(whole.subarray(0, 17 * MiB))
    expect((await patch.reply).status).toBe(502)
    expect(await client.offset(url)).toBe(0)
    site.bucket.faults.clear()
    expect((await client.patch(url, 0, whole, checksum)).status).toBe(204)
    await objectIs(url, whole)
  })

  it.each([
    ['an empty file', Buffer.alloc(0)],
    ['a file whose length is declared after its bytes', randomBytes(MiB)],
  ])('lets the reconciler retry %s', async (_, whole) => {
    const url = await (whole.length === 0 ? emptyFile() : fileOfUnknownLength(whole))
    expect(await site.statusOf(url)).toBe('transferring')
    site.bucket.faults.clear()
    site.clock.advance(60_000)
    while ((await site.statusOf(url)) !== 'transferred') await reconcileUploads(node.context)
    await objectIs(url, whole)
  })
  const emptyFile = async () => {
    site.bucket.faults.add({ operation: 'PutObject', times: 100, effect: slowDown })
    return hasty.begin(0)
  }
  const fileOfUnknownLength = async (whole: Buffer) => {
    const url = await hasty.begin(null)
    await hasty.patch(url, 0, whole)
    site.bucket.faults.add({ operation: 'PutObject', times: 100, effect: slowDown })
    const length = { 'Upload-Length': String(whole.length) }
    expect((await hasty.patch(url, whole.length, Buffer.alloc(0), length)).status).toBe(204)
    return url
  }

  it('causes the file to fail, with the reason, if it has dropped the multipart upload', async () => {
    const whole = randomBytes(17 * MiB)
    const url = await client.begin(whole.length)
    await client.patch(url, 0, whole.subarray(0, 8 * MiB))
    const effect = { kind: 'refuse', status: 404, code: 'NoSuchUpload' } as const
    site.bucket.faults.add({ operation: 'UploadPart', times: 100, effect })
    const reply = await client.patch(url, 8 * MiB, whole.subarray(8 * MiB))
    expect(reply.status).toBe(502)
    expect((await client.head(url)).status).toBe(410)
    expect(await site.statusOf(url)).toBe('failed')
  })

  it('does not store a tail twice if part of it was in the database before the bucket failed', async () => {
    const { context } = node
    const url = await client.begin(1000)
    const at = { pipeId: site.pipe.id, fileId: fileIdOf(url) }
    const upload = (await openUpload(context, await context.rights.toContinue(client.token, at), {
      bytes: 1000,
    }))!
    const buffer = new PartBuffer(upload.memory)
    buffer.push(randomBytes(100), 0)
    const tail = context.tailCipher.sealer(upload.fileId)(0, buffer.joined(0, 10))
    site.bucket.faults.add({
      operation: 'UploadPart',
      times: 100,
      effect: { kind: 'refuse', status: 503, code: 'SlowDown' },
    })
    const parts = new Parts(context, upload, { atomic: false })
    parts.send(buffer)
    await expect(parts.recorder.recorded).rejects.toThrow()
    const first = { fromBytes: 0, toBytes: 10, crc32: 0, tail }
    await advance(context.db, upload.lease, first, context.clock.now())
    upload.progress.moveTo({ offsetBytes: 10, crc32: 0, tailBytes: 10 }, context.clock.now())
    const fault = new BucketError('trouble', 'SlowDown', 'The bucket is slow.')
    expect(await recoverFromFault(context, upload, parts, { fault, mayFinish: true })).toMatchObject({
      state: 'refused',
      error: { message: 'The bucket is slow.' },
    })
    expect(await client.offset(url)).toBe(10)
  })
})
