import { randomUUID } from 'node:crypto'
import { type CompletedPart, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { expect } from 'vitest'

export interface Keys {
  accessKeyId: string
  secretAccessKey: string
}

export interface BucketUnderTest {
  endpoint: string
  region: string
  bucket: string
  /** These have all permissions. */
  keys: Keys
  /** These only permit PutObject; they are the same as `keys` if the bucket cannot restrict keys. */
  putOnlyKeys: Keys
  /** How long a request may take. A bucket that never responds also breaks the clause. */
  giveUpMs?: number
  close(): Promise<void>
}

export type Prove = (ground: Ground) => Promise<void>

const MIB = 2 ** 20
/** The minimum size that S3 requires of every part except the last. */
export const PART_BYTES = 5 * MIB

const GIVE_UP_MS = 20_000

/** A bucket, clients for it, and object keys that no other clause uses. */
export class Ground {
  readonly under: BucketUnderTest
  readonly #clients: S3Client[] = []
  readonly s3: S3Client
  readonly putOnly: S3Client

  constructor(under: BucketUnderTest) {
    this.under = under
    this.s3 = this.client({})
    this.putOnly = this.client({ credentials: under.putOnlyKeys })
  }

  client = (config: S3ClientConfig): S3Client => {
    const { endpoint, region, keys, giveUpMs = GIVE_UP_MS } = this.under
    const requestHandler = { requestTimeout: giveUpMs, throwOnRequestTimeout: true }
    const client = new S3Client({
      requestHandler,
      endpoint,
      region,
      credentials: keys,
      forcePathStyle: true,
      maxAttempts: 1,
      ...config,
    })
    this.#clients.push(client)
    return client
  }

  /** A bucket and a unique key, under a prefix that no other test uses. */
  target = (name = 'object'): { Bucket: string; Key: string } => {
    return { Bucket: this.under.bucket, Key: `contract/${randomUUID()}/${name}` }
  }

  async leave(): Promise<void> {
    for (const client of this.#clients) client.destroy()
    await this.under.close()
  }
}

/** Bytes that depend on their position, so that a swapped or shifted part is detected. */
export function patternBytes(size: number, seed = 1): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  for (let n = 0; n < size; n++) bytes[n] = (n * 31 + (n >> 8) * 17 + (n >> 16) * 7 + seed * 101) & 0xff
  return bytes
}

export function namedPart(
  PartNumber: number,
  sent: { ETag?: string; ChecksumCRC32?: string },
): CompletedPart {
  return { PartNumber, ETag: sent.ETag, ChecksumCRC32: sent.ChecksumCRC32 }
}

export async function expectRefusal(sending: Promise<unknown>, status: number, code: string): Promise<void> {
  const error = await sending.then(
    () => expect.fail(`succeeded instead of failing with ${status} ${code}`),
    (refusal) => refusal,
  )
  expect({ status: error.$metadata?.httpStatusCode, code: error.name, message: error.message }).toEqual({
    status,
    code,
    message: expect.any(String),
  })
}
