import { once } from 'node:events'
import { connect } from 'node:net'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { days } from '../../lib/platform/kernel/clock.ts'
import {
  BUCKET,
  type BucketInTest,
  disposeLocalBucket,
  KEYS,
  openLocalBucket,
} from '../../test/support/local-bucket.ts'
import type { Action } from './key-ring.ts'
import { startLocalBucket } from './start.ts'

let bucket: BucketInTest
let nowMs: number

const granted = (accessKeyId: string, ...actions: Action[]) => ({
  accessKeyId,
  secretAccessKey: accessKeyId,
  actions,
})
const as = (accessKeyId: string) =>
  bucket.client({ credentials: { accessKeyId, secretAccessKey: accessKeyId } })
const at = (Key: string) => ({ Bucket: BUCKET, Key })

beforeEach(async () => {
  nowMs = Date.now()
  bucket = await openLocalBucket({
    keys: [
      ...KEYS,
      granted('ABORTER', 's3:PutObject', 's3:AbortMultipartUpload'),
      granted('GETTER', 's3:GetObject'),
      granted('LOOKER', 's3:GetObject', 's3:ListBucket'),
    ],
    clock: { now: () => nowMs },
  })
})
afterEach(async () => {
  await disposeLocalBucket(bucket)
})

describe('a key', () => {
  it('allows only the granted actions', async () => {
    const { UploadId } = await as('ABORTER').send(new CreateMultipartUploadCommand(at('a')))
    await as('ABORTER').send(new AbortMultipartUploadCommand({ ...at('a'), UploadId }))
    await expect(as('ABORTER').send(new DeleteObjectCommand(at('a')))).rejects.toMatchObject({
      name: 'AccessDenied',
    })
    await expect(as('GETTER').send(new PutObjectCommand({ ...at('a'), Body: 'a' }))).rejects.toMatchObject({
      name: 'AccessDenied',
    })
  })

  it('does not reveal which keys are unused if it may not list the bucket', async () => {
    await bucket.s3.send(new PutObjectCommand({ ...at('a'), Body: 'a' }))
    await as('GETTER').send(new HeadObjectCommand(at('a')))
    const missing = new GetObjectCommand(at('missing'))
    await expect(as('GETTER').send(missing)).rejects.toMatchObject({ name: 'AccessDenied' })
    await expect(as('LOOKER').send(missing)).rejects.toMatchObject({ name: 'NoSuchKey' })
  })
})

describe('the server', () => {
  it('listens on 127.0.0.1 and nowhere else', async () => {
    expect(bucket.endpoint).toBe(`http://127.0.0.1:${bucket.port}`)
    const [error] = await once(connect(bucket.port, '127.0.0.2'), 'error')
    expect(error).toBeInstanceOf(Error)
  })

  it('reports a port that is in use', async () => {
    const { directory, port } = bucket
    const starting = startLocalBucket({
      directory: `${directory}/other`,
      region: 'x',
      buckets: [],
      keys: [],
      port,
    })
    await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  it.each(['Demo', 'ab', '.sluice', 'a/b', '..'])('rejects a bucket named %j', async (name) => {
    const starting = startLocalBucket({
      directory: `${bucket.directory}/other`,
      region: 'x',
      buckets: [name],
      keys: [],
    })
    await expect(starting).rejects.toThrow(`'${name}' is not a name`)
  })

  it('remembers completed uploads for a day', async () => {
    const { UploadId } = await bucket.s3.send(new CreateMultipartUploadCommand(at('a')))
    const { ETag } = await bucket.s3.send(
      new UploadPartCommand({ ...at('a'), UploadId, PartNumber: 1, Body: 'a' }),
    )
    const complete = () => {
      const s3 = bucket.client({ systemClockOffset: nowMs - Date.now() })
      const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
      return s3.send(new CompleteMultipartUploadCommand({ ...at('a'), UploadId, MultipartUpload }))
    }
    const first = await complete()
    bucket = await bucket.restart()
    expect((await complete()).ETag).toBe(first.ETag)
    nowMs += days(1) + 1
    bucket = await bucket.restart()
    await expect(complete()).rejects.toMatchObject({ name: 'NoSuchUpload' })
  })
})
