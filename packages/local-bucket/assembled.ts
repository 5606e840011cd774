import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { combineCrc32, crc32ToBase64 } from '../../lib/platform/kernel/crc32.ts'
import type { Measured } from './checksums.ts'
import type { ChecksumType } from './object-metadata.ts'

export interface Assembled {
  size: number
  etag: string
  crc32: number
  checksum: { value: string; type: ChecksumType }
}

/** What is known of the object that these parts make, without its bytes. */
export function describeAssembled(parts: readonly Measured[], checksumType: ChecksumType): Assembled {
  const whole = parts.reduce((crc, part) => combineCrc32(crc, part.crc32, part.size), 0)
  const digests = Buffer.concat(parts.map(({ md5 }) => Buffer.from(md5, 'hex')))
  const checksums = Buffer.concat(parts.map((part) => Buffer.from(crc32ToBase64(part.crc32), 'base64')))
  const composite = `${crc32ToBase64(crc32(checksums))}-${parts.length}`
  return {
    size: parts.reduce((total, { size }) => total + size, 0),
    etag: `"${createHash('md5').update(digests).digest('hex')}-${parts.length}"`,
    crc32: whole,
    checksum: { value: checksumType === 'COMPOSITE' ? composite : crc32ToBase64(whole), type: checksumType },
  }
}
