import type { ObjectMetadata } from './object-metadata.ts'
import { tagsOf } from './stored-headers.ts'

/** What GetObject and HeadObject tell about an object. The checksum is of the whole, so a range has none. */
export function objectHeaders(
  metadata: ObjectMetadata,
  options: { checksum: boolean },
): Record<string, string> {
  const { 'x-amz-tagging': tagging, ...headers } = metadata.headers
  return {
    ...headers,
    ...(tagging && { 'x-amz-tagging-count': String(tagsOf(metadata.headers).length) }),
    etag: metadata.etag,
    'last-modified': new Date(metadata.lastModifiedMs).toUTCString(),
    'accept-ranges': 'bytes',
    'content-length': String(metadata.size),
    ...(options.checksum && {
      'x-amz-checksum-crc32': metadata.checksum.value,
      'x-amz-checksum-type': metadata.checksum.type,
    }),
  }
}

export function wantsChecksum(headers: Record<string, string>): boolean {
  return headers['x-amz-checksum-mode']?.toUpperCase() === 'ENABLED'
}
