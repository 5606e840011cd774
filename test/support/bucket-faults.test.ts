import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Effect, Fault } from './bucket-faults.ts'
import { BUCKET, type BucketInTest, disposeLocalBucket, openLocalBucket } from './local-bucket.ts'

let bucket: BucketInTest

beforeEach(async () => {
  bucket = await openLocalBucket()
})
afterEach(async () => {
  await disposeLocalBucket(bucket)
})

const slowDown: Effect = { kind: 'refuse', status: 503, code: 'SlowDown' }
const cut: Effect = { kind: 'cut' }

const put = (Key: string, Body: string | Buffer = Key) =>
  bucket.s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }))
const outcome = (sending: Promise<unknown>) =>
  sending.then(
    () => 'done',
    (error) => error.name,
  )

async function exists(Key: string): Promise<boolean> {
  const head = bucket.s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key }))
  return head.then(
    () => true,
    () => false,
  )
}

async function openUpload(Key: string, ...bodies: string[]) {
  const target = { Bucket: BUCKET, Key }
  const { UploadId } = await bucket.s3.send(new CreateMultipartUploadCommand(target))
  const Parts: { PartNumber: number; ETag: string | undefined }[] = []
  for (const [n, Body] of bodies.entries()) {
    const part = { ...target, UploadId, PartNumber: n + 1, Body }
    Parts.push({ PartNumber: n + 1, ETag: (await bucket.s3.send(new UploadPartCommand(part))).ETag })
  }
  const complete = { ...target, UploadId, MultipartUpload: { Parts } }
  return () => bucket.s3.send(new CompleteMultipartUploadCommand(complete))
}

describe('a fault', () => {
  it('affects the next call of its operation, and of no other operation', async () => {
    bucket.faults.add({ operation: 'PutObject', effect: slowDown })
    expect(await exists('a')).toBe(false)
    expect([await outcome(put('a')), await outcome(put('a'))]).toEqual(['SlowDown', 'done'])
  })

  it('affects the specified call, and as many consecutive calls as specified', async () => {
    await put('before')
    bucket.faults.add({ operation: 'PutObject', call: 2, times: 2, effect: slowDown })
    const outcomes = []
    for (const key of ['a', 'b', 'c', 'd']) outcomes.push(await outcome(put(key)))
    expect(outcomes).toEqual(['done', 'SlowDown', 'SlowDown', 'done'])
  })

  it('can be limited to a key or a part number', async () => {
    bucket.faults.add({ operation: 'any', key: 'b', effect: slowDown })
    expect([await outcome(put('a')), await outcome(put('b'))]).toEqual(['done', 'SlowDown'])
    bucket.faults.add({ operation: 'UploadPart', partNumber: 2, effect: slowDown })
    expect(await outcome(openUpload('c', 'one', 'two'))).toBe('SlowDown')
    expect(bucket.traffic.seen({ operation: 'UploadPart', status: 200 })).toMatchObject([{ partNumber: 1 }])
  })

  it('affects no call after faults are cleared', async () => {
    bucket.faults.add({ operation: 'PutObject', effect: slowDown })
    bucket.faults.clear()
    expect(await outcome(put('a'))).toBe('done')
  })
})

describe('the effect of a fault', () => {
  it.each([
    [500, 'InternalError'],
    [503, 'SlowDown'],
    [403, 'AccessDenied'],
  ])('refuses with %i %s and stores nothing', async (status, code) => {
    bucket.faults.add({ operation: 'PutObject', effect: { kind: 'refuse', status, code } })
    await expect(put('a', Buffer.alloc(3 * 2 ** 20))).rejects.toMatchObject({
      name: code,
      $metadata: { httpStatusCode: status },
    })
    expect(await exists('a')).toBe(false)
  })

  it('can refuse a request after performing it', async () => {
    bucket.faults.add({ operation: 'PutObject', at: 'answer', effect: slowDown })
    expect(await outcome(put('a'))).toBe('SlowDown')
    expect(await exists('a')).toBe(true)
  })

  it('returns an error inside a 200, before or after the operation', async () => {
    const effect: Effect = { kind: 'refuse', status: 200, code: 'InternalError' }
    const complete = await openUpload('a', 'one')
    for (const at of ['request', 'answer'] as const) {
      bucket.faults.add({ operation: 'CompleteMultipartUpload', at, effect })
      expect(await outcome(complete())).toBe('InternalError')
      expect(await exists('a')).toBe(at === 'answer')
    }
    expect(bucket.traffic.seen({ operation: 'CompleteMultipartUpload' })).toMatchObject([
      { status: 200, code: 'InternalError' },
      { status: 200, code: 'InternalError' },
    ])
    expect(await outcome(complete())).toBe('done')
  })

  it('returns NoSuchUpload for an existing upload, and for a completed one', async () => {
    const effect: Effect = { kind: 'refuse', status: 404, code: 'NoSuchUpload' }
    const complete = await openUpload('a', 'one')
    bucket.faults.add({ operation: 'CompleteMultipartUpload', at: 'answer', effect })
    expect(await outcome(complete())).toBe('NoSuchUpload')
    expect(await exists('a')).toBe(true)
  })

  it.each<[Fault['at'], boolean]>([
    ['request', false],
    ['body', false],
    ['answer', true],
  ])('cuts the connection at the %s', async (at, stored) => {
    bucket.faults.add({ operation: 'PutObject', at, afterBytes: 2 ** 20, effect: cut })
    await expect(put('a', Buffer.alloc(3 * 2 ** 20))).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNRESET|EPIPE/),
    })
    await bucket.traffic.until({ operation: 'PutObject', state: 'cut' })
    expect(await exists('a')).toBe(stored)
  })

  it('stalls until the client disconnects', async () => {
    bucket.faults.add({ operation: 'PutObject', effect: { kind: 'stall' } })
    const abort = new AbortController()
    const sending = bucket.s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'a', Body: 'a' }), {
      abortSignal: abort.signal,
    })
    const failed = expect(sending).rejects.toMatchObject({ name: 'AbortError' })
    await bucket.traffic.until({ operation: 'PutObject', state: 'arrived' })
    abort.abort()
    await failed
    await bucket.traffic.until({ operation: 'PutObject', state: 'cut' })
    expect(await exists('a')).toBe(false)
  })

  it('does not keep the server from closing', async () => {
    bucket.faults.add({ operation: 'PutObject', effect: { kind: 'stall' } })
    const failed = expect(put('a')).rejects.toMatchObject({ code: 'ECONNRESET' })
    await bucket.traffic.until({ operation: 'PutObject', state: 'arrived' })
    await bucket.close()
    await failed
  })

  it('holds a request at a gate while others pass', async () => {
    bucket.faults.add({ operation: 'PutObject', key: 'a', effect: { kind: 'hold', gate: 'g' } })
    const held = outcome(put('a'))
    await bucket.traffic.until({ key: 'a', state: 'arrived' })
    expect(await outcome(put('b'))).toBe('done')
    expect(await exists('a')).toBe(false)
    bucket.faults.release('g')
    expect(await held).toBe('done')
  })

  it('reads a body no faster than specified', async () => {
    const hold = (gate: string, afterBytes: number) =>
      bucket.faults.add({ operation: 'PutObject', at: 'body', afterBytes, effect: { kind: 'hold', gate } })
    hold('second', 2 ** 20)
    hold('first', 1000)
    const sending = outcome(put('a', Buffer.alloc(4 * 2 ** 20)))
    await bucket.traffic.until({ key: 'a' })
    bucket.faults.release('first')
    bucket.faults.release('second')
    expect(await sending).toBe('done')
    const got = await bucket.s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'a' }))
    expect((await got.Body!.transformToByteArray()).length).toBe(4 * 2 ** 20)
  })

  it('delays a response', async () => {
    bucket.faults.add({ operation: 'PutObject', at: 'answer', effect: { kind: 'delay', delayMs: 1 } })
    expect(await outcome(put('a'))).toBe('done')
  })

  it('releases held requests when it is cleared', async () => {
    bucket.faults.add({ operation: 'PutObject', effect: { kind: 'hold', gate: 'g' } })
    const held = outcome(put('a'))
    await bucket.traffic.until({ key: 'a' })
    bucket.faults.clear()
    expect(await held).toBe('done')
  })
})

describe('traffic', () => {
  it('counts requests, refused or not, and reports how they ended', async () => {
    bucket.faults.add({ operation: 'PutObject', effect: slowDown })
    await outcome(put('a'))
    await outcome(put('a'))
    expect(bucket.traffic.counts()).toEqual({ PutObject: 2 })
    expect(bucket.traffic.seen({ key: 'a' })).toMatchObject([
      { operation: 'PutObject', state: 'answered', status: 503, code: 'SlowDown' },
      { operation: 'PutObject', state: 'answered', status: 200, code: undefined },
    ])
  })

  it('reports when the second request of a kind has arrived', async () => {
    const second = bucket.traffic.until({ operation: 'PutObject' }, 2)
    await put('a')
    await put('b')
    expect(await second).toMatchObject({ key: 'b' })
  })
})
