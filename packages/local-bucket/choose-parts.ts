import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { combineCrc32, crc32FromBase64, crc32ToBase64 } from '../../lib/platform/kernel/crc32.ts'
import type { Measured } from './checksums.ts'
import type { ChecksumType } from './object-metadata.ts'
import { requirePartNumber } from './request.ts'
import { S3Error } from './s3-error.ts'
import type { StoredPart } from './upload-files.ts'
import { childText, readXml } from './xml.ts'

const MIN_PART_BYTES = 5 * 2 ** 20
const MAX_PARTS = 10_000

/** A part as the client names it on completion. */
export interface NamedPart {
  number: number
  etag: string
  crc32: number | undefined
}

export function readNamedParts(body: string): NamedPart[] {
  const root = readXml(body)
  const parts = root.children.filter(({ name }) => name === 'Part')
  if (root.name !== 'CompleteMultipartUpload' || parts.length === 0 || parts.length > MAX_PARTS) {
    throw new S3Error('MalformedXML')
  }
  return parts.map((part) => {
    const [number, etag, crc32] = ['PartNumber', 'ETag', 'ChecksumCRC32'].map((name) =>
      childText(part, name)?.trim(),
    )
    if (number === undefined || etag === undefined) throw new S3Error('MalformedXML')
    return {
      number: requirePartNumber(number),
      etag: unquote(etag),
      crc32: crc32 === undefined ? undefined : readCrc32(crc32, number),
    }
  })
}

/** The stored parts named by the client, in its order, or the error that S3 would return. */
export function chooseParts(
  named: readonly NamedPart[],
  stored: readonly StoredPart[],
  checksumType: ChecksumType | undefined,
): StoredPart[] {
  const byNumber = new Map(stored.map((part) => [part.number, part]))
  return named.map(({ number, etag, crc32 }, n) => {
    if (n > 0 && number <= named[n - 1]!.number) throw new S3Error('InvalidPartOrder')
    // AWS's documentation of CompletedPart, for general purpose buckets: "when a checksum […] is applied to each part,
    // the PartNumber must start at 1 and the part numbers must be consecutive. Otherwise, Amazon S3 generates an HTTP
    // 400 Bad Request".
    if (checksumType !== undefined && number !== n + 1) throw new S3Error('InvalidPartOrder')
    const part = byNumber.get(number)
    if (!part || part.md5 !== etag)
      throw new S3Error('InvalidPart', undefined, { PartNumber: String(number) })
    if (crc32 === undefined && checksumType === 'COMPOSITE') {
      const message = `The upload was created using a crc32 checksum. The complete request must include the checksum for each part. It was missing for part ${number} in the request.`
      throw new S3Error('InvalidRequest', message)
    }
    if (crc32 !== undefined && crc32 !== part.crc32) {
      throw new S3Error('InvalidPart', undefined, { PartNumber: String(number) })
    }
    if (n < named.length - 1 && part.size < MIN_PART_BYTES) {
      throw new S3Error('EntityTooSmall', undefined, {
        PartNumber: String(number),
        ETag: part.md5,
        ProposedSize: String(part.size),
        MinSizeAllowed: String(MIN_PART_BYTES),
      })
    }
    return part
  })
}

const unquote = (etag: string): string => etag.replace(/^"(.*)"$/, '$1')

function readCrc32(text: string, number: string): number {
  const crc = crc32FromBase64(text)
  if (crc === undefined) throw new S3Error('InvalidPart', undefined, { PartNumber: number })
  return crc
}

export interface Assembled {
  size: number
  etag: string
  crc32: number
  checksum: { value: string; type: ChecksumType }
}

/** The size, ETag and checksum of the object that these parts form, computed without its bytes. */
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
