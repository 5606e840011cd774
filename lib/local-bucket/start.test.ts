import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ALL_ACTIONS } from './grants.ts'
import { type LocalBucket, startLocalBucket } from './start.ts'

let directory: string
let bucket: LocalBucket
let writer: S3Client
let reader: S3Client

const client = (accessKeyId: string) =>
  new S3Client({
    endpoint: bucket.endpoint,
    region: 'eu-west-1',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId, secretAccessKey: `secret of ${accessKeyId}` },
  })

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bucket-'))
  bucket = await startLocalBucket({
    directory,
    region: 'eu-west-1',
    buckets: ['demo'],
    keys: [
      { accessKeyId: 'WRITER', secretAccessKey: 'secret of WRITER', actions: ['s3:PutObject'] },
      { accessKeyId: 'READER', secretAccessKey: 'secret of READER', actions: ALL_ACTIONS },
    ],
  })
  writer = client('WRITER')
  reader = client('READER')
})

afterEach(async () => {
  await bucket.close()
  await rm(directory, { recursive: true })
})

it('keeps a put object as a plain file, and shows nothing else in the folder', async () => {
  await writer.send(
    new PutObjectCommand({
      Bucket: 'demo',
      Key: 'a/hello world.txt',
      Body: 'hello',
      ContentType: 'text/plain',
    }),
  )
  expect(await readFile(join(directory, 'demo/a/hello world.txt'), 'utf8')).toBe('hello')
  expect(await readdir(join(directory, 'demo'), { recursive: true })).toEqual(['a', 'a/hello world.txt'])
  const got = await reader.send(new GetObjectCommand({ Bucket: 'demo', Key: 'a/hello world.txt' }))
  expect(got.ContentType).toBe('text/plain')
  expect(await got.Body?.transformToString()).toBe('hello')
  const list = await reader.send(new ListObjectsV2Command({ Bucket: 'demo' }))
  expect(list.Contents).toMatchObject([{ Key: 'a/hello world.txt', Size: 5 }])
})

it('assembles parts, and completes again for a client that lost the answer', async () => {
  const target = { Bucket: 'demo', Key: 'film' }
  const { UploadId } = await writer.send(new CreateMultipartUploadCommand(target))
  const bytes = [randomBytes(5 * 2 ** 20), randomBytes(1000)]
  const Parts: CompletedPart[] = []
  for (const [n, Body] of bytes.entries()) {
    const { ETag } = await writer.send(
      new UploadPartCommand({ ...target, UploadId, PartNumber: n + 3, Body }),
    )
    Parts.push({ PartNumber: n + 3, ETag })
  }
  const complete = () =>
    writer.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }))
  const first = await complete()
  expect((await complete()).ETag).toBe(first.ETag)
  expect((await readFile(join(directory, 'demo/film'))).equals(Buffer.concat(bytes))).toBe(true)
  expect(await readdir(join(directory, '.sluice/uploads/demo/open'))).toEqual([])
  expect(bucket.traffic.counts()).toEqual({
    CreateMultipartUpload: 1,
    UploadPart: 2,
    CompleteMultipartUpload: 2,
  })
})

it('grants a key nothing but its actions', async () => {
  const target = { Bucket: 'demo', Key: 'a' }
  for (const command of [new GetObjectCommand(target), new DeleteObjectCommand(target)]) {
    await expect(writer.send(command as GetObjectCommand)).rejects.toMatchObject({ name: 'AccessDenied' })
  }
  await expect(writer.send(new ListObjectsV2Command({ Bucket: 'demo' }))).rejects.toMatchObject({
    name: 'AccessDenied',
    $metadata: { httpStatusCode: 403 },
  })
})
