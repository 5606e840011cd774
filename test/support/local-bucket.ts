import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { ALL_ACTIONS } from '#packages/local-bucket/key-ring.ts'
import { type Bucket, type BucketOptions, startBucket } from './bucket.ts'

export const BUCKET = 'demo'
export const REGION = 'eu-central-1'
export const READER = { accessKeyId: 'READER', secretAccessKey: 'secret-of-reader' }
export const WRITER = { accessKeyId: 'WRITER', secretAccessKey: 'secret-of-writer' }
export const KEYS = [
  { ...READER, actions: ALL_ACTIONS },
  { ...WRITER, actions: ['s3:PutObject'] as const },
]

export interface BucketInTest extends Bucket {
  directory: string
  /** Has all permissions, and does not retry. */
  s3: S3Client
  client(config: S3ClientConfig): S3Client
  /** Closes this bucket and starts another one on the same directory. */
  restart(): Promise<BucketInTest>
}

/** Starts a local bucket in this process. `disposeLocalBucket` closes it and removes its directory. */
export async function openLocalBucket(options: Partial<BucketOptions> = {}): Promise<BucketInTest> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'local-bucket-')))
  const bucket = await startBucket({
    region: REGION,
    buckets: [BUCKET],
    keys: KEYS,
    ...options,
    directory,
  })
  const client = (config: S3ClientConfig) =>
    new S3Client({
      endpoint: bucket.endpoint,
      region: REGION,
      credentials: READER,
      forcePathStyle: true,
      maxAttempts: 1,
      ...config,
    })
  const restart = async () => {
    await bucket.close()
    return openLocalBucket({ ...options, directory })
  }
  return { ...bucket, directory, s3: client({}), client, restart }
}

export async function disposeLocalBucket(bucket: BucketInTest): Promise<void> {
  await bucket.close()
  await rm(bucket.directory, { recursive: true, force: true })
}
