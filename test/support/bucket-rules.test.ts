import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import type { LookupFunction } from 'node:net'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hours, seconds } from '#lib/platform/kernel/clock.ts'
import { crc32ToBase64 } from '#lib/platform/kernel/crc32.ts'
import { fastCrc32 } from '#lib/platform/kernel/fast-crc32.ts'
import { RULES, type RuleName } from './bucket-rules.ts'
import { BUCKET, type BucketInTest, disposeLocalBucket, openLocalBucket, REGION } from './local-bucket.ts'

let bucket: BucketInTest
let laterMs: number
let Key: string

beforeAll(async () => {
  bucket = await openLocalBucket({
    buckets: [BUCKET, 'dotted.name'],
    clock: { now: () => Date.now() + laterMs },
  })
})
beforeEach(() => {
  laterMs = 0
  Key = crypto.randomUUID()
})
afterEach(() => bucket.rules.clear())
afterAll(() => disposeLocalBucket(bucket))

const s3 = () => bucket.client({ requestChecksumCalculation: 'WHEN_REQUIRED', systemClockOffset: laterMs })
const toLoopback: LookupFunction = (_host, _options, found) =>
  found(null, [{ address: '127.0.0.1', family: 4 }])
const CRC = crc32ToBase64(fastCrc32(Buffer.from('abc'), 0))

const put = (more: object = {}) =>
  s3().send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'abc', ...more }))
const create = async (more: object = {}) =>
  (await s3().send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key, ...more }))).UploadId!
const part = (UploadId: string, more: object = {}) =>
  s3().send(new UploadPartCommand({ Bucket: BUCKET, Key, UploadId, PartNumber: 1, Body: 'abc', ...more }))
const copy = (UploadId: string, more: object = {}) =>
  s3().send(
    new UploadPartCopyCommand({
      Bucket: BUCKET,
      Key,
      UploadId,
      PartNumber: 1,
      CopySource: `${BUCKET}/source`,
      ...more,
    }),
  )
const complete = async (UploadId: string, more: object = {}) => {
  const { ETag } = await part(UploadId, { ChecksumCRC32: CRC })
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag, ChecksumCRC32: CRC }] }
  const named = { Bucket: BUCKET, Key, UploadId, MultipartUpload, ...more }
  return s3().send(new CompleteMultipartUploadCommand(named))
}
/** Completes an upload whose only part has the number 2. */
const completeSecond = async (UploadId: string) => {
  const { ETag } = await part(UploadId, { PartNumber: 2, ChecksumCRC32: CRC })
  const MultipartUpload = { Parts: [{ PartNumber: 2, ETag, ChecksumCRC32: CRC }] }
  return s3().send(new CompleteMultipartUploadCommand({ Bucket: BUCKET, Key, UploadId, MultipartUpload }))
}
const completeUnequal = async () => {
  const UploadId = await create()
  const bytes = 5 * 2 ** 20
  const sent = [bytes, bytes + 1].map((size, n) =>
    part(UploadId, { PartNumber: n + 1, Body: Buffer.alloc(size) }),
  )
  const Parts = (await Promise.all(sent)).map(({ ETag }, n) => ({ PartNumber: n + 1, ETag }))
  const MultipartUpload = { Parts }
  return s3().send(new CompleteMultipartUploadCommand({ Bucket: BUCKET, Key, UploadId, MultipartUpload }))
}
const WHOLE = { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' }

/** The error code for a request that breaks each rule, and the request, which succeeds without the rule. */
const BROKEN: Partial<Record<RuleName, [code: string, () => Promise<unknown>]>> = {
  'no-overwrite': [
    'AccessDenied',
    async () => {
      await put()
      await complete(await create())
    },
  ],
  'one-write-a-second': [
    'TooManyRequests',
    async () => {
      await put()
      await put()
    },
  ],
  'drops-uploads-after-24-hours': [
    'NoSuchUpload',
    async () => {
      const id = await create()
      await part(id)
      laterMs = hours(24)
      await complete(id)
    },
  ],
  'minimum-copy-source': [
    'InvalidRequest',
    async () => {
      await put({ Key: 'source' })
      await copy(await create(), { CopySourceRange: 'bytes=0-2' })
    },
  ],
  'no-part-copy': [
    'NotImplemented',
    async () => {
      await put({ Key: 'source' })
      await copy(await create())
    },
  ],
  'no-copy-into-checksums': [
    'InvalidArgument',
    async () => {
      await put({ Key: 'source' })
      await copy(await create(WHOLE))
    },
  ],
  'no-full-object-checksum': [
    'XAmzContentChecksumMismatch',
    async () => complete(await create(WHOLE), { ChecksumCRC32: CRC, ChecksumType: 'FULL_OBJECT' }),
  ],
  'checksum-required': ['InvalidRequest', () => put()],
  'content-md5-required': ['InvalidRequest', () => put({ ChecksumCRC32: CRC })],
  'md5-or-sdk-header-required': ['MissingUploadObjectWithObjectLockHeaders', () => put()],
  'no-checksum-headers': ['InvalidArgument', () => put({ ChecksumCRC32: CRC })],
  'if-none-match-required': ['AccessDenied', async () => complete(await create())],
  'no-if-none-match': ['NotImplemented', () => put({ IfNoneMatch: '*' })],
  'consecutive-part-numbers': ['InvalidPartOrder', async () => completeSecond(await create())],
  'equal-parts': ['InvalidPart', completeUnequal],
  'well-formed-media-types': ['InvalidArgument', () => put({ ContentType: 'text/plain; name="' })],
  'hosts-of-aws': [
    'PermanentRedirect',
    () =>
      bucket
        .client({
          forcePathStyle: false,
          endpoint: `http://s3.${REGION}.amazonaws.com.cn:${bucket.port}`,
          requestHandler: { httpAgent: new Agent({ lookup: toLoopback }) },
        })
        .send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'abc' })),
  ],
  'short-segments': ['KeyTooLongError', () => put({ Key: `${'ü'.repeat(128)}/x` })],
  'virtual-hosts-are-dns-labels': [
    'InvalidBucketName',
    () =>
      bucket
        .client({
          forcePathStyle: false,
          endpoint: `http://localhost:${bucket.port}`,
          requestHandler: { httpAgent: new Agent({ lookup: toLoopback }) },
        })
        .send(new PutObjectCommand({ Bucket: 'dotted.name', Key, Body: 'abc' })),
  ],
}

describe('a provider rule', () => {
  it.each(Object.entries(BROKEN))('%s refuses what S3 accepts', async (name, [code, breaking]) => {
    await breaking()
    Key = crypto.randomUUID()
    laterMs = 0
    bucket.rules.add(name as RuleName)
    await expect(breaking()).rejects.toMatchObject({ name: code })
  })

  it('accepts requests that follow it', async () => {
    bucket.rules.add('checksum-required').add('if-none-match-required').add('no-full-object-checksum')
    await put({ ChecksumCRC32: CRC, IfNoneMatch: '*' })
    Key = crypto.randomUUID()
    await complete(await create(WHOLE), { IfNoneMatch: '*' })
    bucket.rules.clear()
    bucket.rules.add('one-write-a-second')
    laterMs = seconds(1)
    await put()
  })

  it('is not needed to forbid gaps in part numbers if parts have checksums', async () => {
    await completeSecond(await create())
    for (const ChecksumType of ['FULL_OBJECT', 'COMPOSITE'])
      await expect(completeSecond(await create({ ...WHOLE, ChecksumType }))).rejects.toMatchObject({
        name: 'InvalidPartOrder',
      })
  })

  it('may change only the response to an operation that is still performed', async () => {
    bucket.rules.add('complete-without-result')
    await expect(complete(await create())).rejects.toThrow(/no root element/)
    bucket.rules.clear()
    await expect(put({ IfNoneMatch: '*' })).rejects.toMatchObject({ name: 'PreconditionFailed' })
  })

  it('applies from the start if a bucket is started with it', async () => {
    const strict = await openLocalBucket({ rules: ['no-part-copy'] })
    expect([...strict.rules]).toEqual(['no-part-copy'])
    await disposeLocalBucket(strict)
  })

  it('is covered by a case in this file', () => {
    const others = ['no-unsigned-payload', 'html-answers', 'complete-without-result']
    expect(Object.keys(RULES).filter((name) => !(name in BROKEN))).toEqual(others)
  })
})

it('documents every provider rule', () => {
  const explained = readFileSync(new URL('../../docs/providers.md', import.meta.url), 'utf8')
  expect(Object.keys(RULES).filter((name) => !explained.includes(`\`${name}\``))).toEqual([])
})
