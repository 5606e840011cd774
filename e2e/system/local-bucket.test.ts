import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type FaultyBucket, startFaultyBucket } from '../../test/support/faulty-bucket.ts'
import { BUCKET, KEYS, READER, REGION } from '../../test/support/local-bucket.ts'

const MIB = 2 ** 20
let directory: string
let bucket: FaultyBucket
let s3: S3Client

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bucket-process-'))
  await start()
})
afterEach(async () => {
  await bucket.close()
  await rm(directory, { recursive: true })
})

async function start(): Promise<void> {
  bucket = await startFaultyBucket({ directory, region: REGION, buckets: [BUCKET], keys: KEYS })
  s3 = clientOf(READER)
}

function clientOf(credentials: typeof READER): S3Client {
  return new S3Client({
    endpoint: bucket.endpoint,
    region: REGION,
    credentials,
    forcePathStyle: true,
    maxAttempts: 1,
  })
}

it('is consistent after kill -9: acknowledged objects exist, and unfinished ones leave nothing behind', async () => {
  const target = { Bucket: BUCKET, Key: 'film' }
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(target))
  const part = (PartNumber: number) => {
    const Body = Buffer.alloc(5 * MIB, PartNumber)
    return s3.send(new UploadPartCommand({ ...target, UploadId, PartNumber, Body }))
  }
  const first = await part(1)
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'answered', Body: 'a' }))
  await bucket.faults.add({
    operation: 'any',
    at: 'body',
    times: 2,
    afterBytes: MIB,
    effect: { kind: 'stall' },
  })
  const Body = Buffer.alloc(5 * MIB)
  const halfway = [part(2), s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'halfway', Body }))]
  const failed = Promise.all(halfway.map((sending) => expect(sending).rejects.toThrow()))
  await Promise.all([
    bucket.traffic.until({ key: 'film', partNumber: 2 }),
    bucket.traffic.until({ key: 'halfway' }),
  ])
  await bucket.kill()
  await failed

  await start()
  expect(await readdir(join(directory, BUCKET))).toEqual(['answered'])
  expect(await readdir(join(directory, '.sluice/staging'))).toEqual([])
  const second = await part(2)
  const Parts = [first, second].map(({ ETag }, n) => ({ PartNumber: n + 1, ETag }))
  await s3.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }))
  const film = await readFile(join(directory, BUCKET, 'film'))
  expect(film.equals(Buffer.concat([Buffer.alloc(5 * MIB, 1), Buffer.alloc(5 * MIB, 2)]))).toBe(true)
})

it('keeps little of an object in memory, regardless of its size', { tags: 'long' }, async () => {
  const target = { Bucket: BUCKET, Key: 'large' }
  const chunk = randomBytes(MIB)
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(target))
  const numbers = [1, 2, 3, 4, 5]
  const Parts = await Promise.all(
    numbers.map(async (PartNumber) => {
      const Body = Readable.from(Array.from({ length: 64 }, () => chunk))
      const part = { ...target, UploadId, PartNumber, Body, ContentLength: 64 * MIB }
      return { PartNumber, ETag: (await s3.send(new UploadPartCommand(part))).ETag }
    }),
  )
  await s3.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }))
  const { Body } = await s3.send(new GetObjectCommand(target))
  let size = 0
  for await (const bytes of Body as Readable) size += bytes.length
  expect(size).toBe(320 * MIB)
  expect(await bucket.peakMemoryBytes()).toBeLessThan(250 * MIB)
})
