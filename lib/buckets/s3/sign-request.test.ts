import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import { describe, expect, it } from 'vitest'
import { canonicalQuery, encodePath } from '../encode-address.ts'
import { createSigner, sha256, UNSIGNED_PAYLOAD } from './sign-request.ts'

const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const at = new Date('2026-11-21T08:09:10.123Z')

/** The hash used by the reference implementation. */
class Sha256 {
  readonly hash: ReturnType<typeof createHash>
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = (
      secret === undefined ? createHash('sha256') : createHmac('sha256', secret as never)
    ) as ReturnType<typeof createHash>
  }
  update(bytes: Uint8Array) {
    this.hash.update(bytes)
  }
  async digest() {
    return new Uint8Array(this.hash.digest())
  }
  reset() {}
}

const reference = new SignatureV4({
  service: 's3',
  region: 'eu-central-1',
  credentials,
  sha256: Sha256 as never,
  uriEscapePath: false,
  applyChecksum: true,
})

describe('signRequest', () => {
  it.each([
    ['PUT', '/bucket/a file (1)*.bin', { partNumber: '7', uploadId: 'a+b/c==' }, UNSIGNED_PAYLOAD],
    ['POST', '/ключ/ü!.txt', { uploads: '' }, sha256('')],
    ['HEAD', '/', {}, sha256('')],
  ])('signs like the AWS SDK: %s %s', async (method, key, query, payloadHash) => {
    const path = encodePath(key)
    const headers = { host: 's3.example.com', 'content-type': 'text/plain;  charset=utf-8' }
    const ours = createSigner('eu-central-1', credentials)(
      { method, path, query, headers, payloadHash },
      at.getTime(),
    )
    const theirs = (await reference.sign(
      {
        method,
        protocol: 'https:',
        hostname: 's3.example.com',
        path,
        query,
        headers: { ...headers, 'x-amz-content-sha256': payloadHash },
      } as never,
      { signingDate: at },
    )) as unknown as { headers: Record<string, string> }
    expect(ours.authorization).toBe(theirs.headers.authorization)
  })

  it('encodes characters that encodeURIComponent leaves unencoded, and sorts the query', () => {
    expect(encodePath("/a b/it's!(1)*")).toBe('/a%20b/it%27s%21%281%29%2A')
    expect(canonicalQuery({ uploadId: 'x=', partNumber: '1' })).toBe('partNumber=1&uploadId=x%3D')
  })
})
