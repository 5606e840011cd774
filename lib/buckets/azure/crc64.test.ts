import { randomBytes, randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { referenceCrc64 } from '../../../test/support/azure-checksums.ts'
import { crc64 } from './crc64.ts'

const of = (bytes: Buffer) => crc64([bytes], bytes.length)

it.each([
  // What Azure itself responded with, according to the recorded tests of its SDK for JavaScript.
  ['Hello World', 'YeJLfssylmU='],
  ['a'.repeat(512), 'u661BimQ84c='],
  ['b'.repeat(1024), 'pK+ypU+jreM='],
  // The check value of the CRC catalogue: ae8b14860a799888.
  ['123456789', 'iJh5CoYUi64='],
  ['', 'AAAAAAAAAAA='],
])('is that of Azure, for %j', (text, expected) => {
  expect(of(Buffer.from(text))).toBe(expected)
})

it('is the same for every length and every division into chunks', () => {
  const lengths = [1, 7, 8, 9, 1621, 1622, 1685, 1686, 1687, 2048, 3333, 65_536, 262_144, 262_145, 1_000_003]
  for (const length of lengths) {
    const bytes = randomBytes(length)
    const chunks: Buffer[] = []
    for (let at = 0; at < length; ) {
      const size = Math.min(randomInt(1, 70_000), length - at)
      chunks.push(bytes.subarray(at, at + size))
      at += size
    }
    expect(crc64(chunks, length), `${length} bytes`).toBe(referenceCrc64(bytes))
    expect(of(bytes), `${length} bytes`).toBe(referenceCrc64(bytes))
  }
})
