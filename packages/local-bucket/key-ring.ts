import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import type { BucketKey } from './grants.ts'

export interface KeyAndSigner {
  key: BucketKey
  signer: SignatureV4
}

export type KeyRing = ReadonlyMap<string, KeyAndSigner>

/** Each pair with the SDK's own signer for it: a signature is verified by making it again. */
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

/** SHA-256, or its HMAC where a secret is given, with the face that the signer wants. */
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
