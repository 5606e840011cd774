import { crc32ToBase64 } from '../platform/kernel/crc32.ts'

/** The CRC32 of a copied part is known only if the bucket returned it. */
export type NamedPart = { number: number; etag: string; crc32: number | null }

/** The XML of CompleteMultipartUpload: the parts by number, with their ETags and checksums. */
export function completeBody(parts: readonly NamedPart[], withChecksums: boolean): Buffer {
  const lines = parts.map(({ number, etag, crc32 }) => {
    const checksum =
      withChecksums && crc32 !== null ? `<ChecksumCRC32>${crc32ToBase64(crc32)}</ChecksumCRC32>` : ''
    return `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag>${checksum}</Part>`
  })
  return Buffer.from(
    `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${lines.join('')}</CompleteMultipartUpload>`,
  )
}

function escapeXml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}
