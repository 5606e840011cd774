import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Operation } from './request.ts'

export interface KeyAndSigner {
  key: BucketKey
  signer: SignatureV4
}

export type KeyRing = ReadonlyMap<string, KeyAndSigner>

/** Pairs each key with the SDK's own signer, because a signature is verified by computing it again. */
export function keyRing(keys: readonly BucketKey[], region: string): KeyRing {
  return new Map(
    keys.map((key) => {
      const signer = new SignatureV4({
        credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey },
        region,
        service: 's3',
        sha256: Sha256,
        uriEscapePath: false,
        applyChecksum: false,
      })
      return [key.accessKeyId, { key, signer }]
    }),
  )
}

type Secret = string | ArrayBuffer | ArrayBufferView

/** SHA-256, or its HMAC if a secret is given, with the interface that the signer expects. */
class Sha256 {
  readonly #secret: Buffer | undefined
  #hash: Hash | Hmac

  constructor(secret?: Secret) {
    this.#secret = secret === undefined ? undefined : bytesOf(secret)
    this.#hash = this.#fresh()
  }

  update(data: Secret): void {
    this.#hash.update(bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {
    this.#hash = this.#fresh()
  }

  #fresh(): Hash | Hmac {
    return this.#secret ? createHmac('sha256', this.#secret) : createHash('sha256')
  }
}

function bytesOf(data: Secret): Buffer {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data)
}

/** The IAM action required by each operation, according to AWS's own table of permissions. */
const REQUIRED = {
  PutObject: 's3:PutObject',
  CreateMultipartUpload: 's3:PutObject',
  UploadPart: 's3:PutObject',
  UploadPartCopy: 's3:PutObject',
  CompleteMultipartUpload: 's3:PutObject',
  AbortMultipartUpload: 's3:AbortMultipartUpload',
  GetObject: 's3:GetObject',
  GetObjectTagging: 's3:GetObjectTagging',
  HeadObject: 's3:GetObject',
  DeleteObject: 's3:DeleteObject',
  DeleteObjects: 's3:DeleteObject',
  ListParts: 's3:ListMultipartUploadParts',
  ListMultipartUploads: 's3:ListBucketMultipartUploads',
  ListObjectsV2: 's3:ListBucket',
  HeadBucket: 's3:ListBucket',
} as const satisfies Record<Operation, string>

/** Also required if a request sets tags. */
export const TAGGING = 's3:PutObjectTagging'

export type Action = (typeof REQUIRED)[Operation] | typeof TAGGING

/** One pair of credentials and its granted actions, on every bucket of the server. */
export interface BucketKey {
  accessKeyId: string
  secretAccessKey: string
  actions: readonly Action[]
}

export const requiredAction = (operation: Operation): Action => REQUIRED[operation]

/** All actions, for keys without restrictions. */
export const ALL_ACTIONS: readonly Action[] = [...new Set(Object.values(REQUIRED)), TAGGING]
