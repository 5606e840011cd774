import { crc32ToBase64 } from '../../platform/kernel/crc32.ts'
import { badResponse, tag } from '../bucket-error.ts'
import type { ListedObject, ListedPage, NamedPart } from '../bucket-place.ts'
import type { CallBucket } from '../call-bucket.ts'

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

/** A key of up to 1,024 bytes may be three times as long when encoded, so 500 keys fit into 2 MiB. */
const KEYS = 500
const PAGE_BYTES = 2 * 1024 * 1024

/** Requires `s3:ListBucket`, which uploads do not need. */
export async function listPage(
  call: CallBucket,
  { prefix, from, signal }: { prefix: string; from: string | null; signal?: AbortSignal | undefined },
): Promise<ListedPage> {
  const { body } = await call({
    operation: 'ListObjectsV2',
    method: 'GET',
    key: '',
    signal,
    wantedBytes: PAGE_BYTES,
    query: {
      'list-type': '2',
      'encoding-type': 'url',
      'max-keys': String(KEYS),
      prefix,
      ...(from !== null && { 'continuation-token': from }),
    },
    isValid: (text) => /<ListBucketResult[\s>]/.test(text),
  })
  const xml = body.toString('utf8')
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry]) => readEntry(entry!))
  const next = tag(xml, 'IsTruncated') === 'true' ? tag(xml, 'NextContinuationToken') : null
  if (next === undefined) throw badResponse('ListObjectsV2')
  return { objects, next }
}

function readEntry(xml: string): ListedObject {
  const [key, bytes, modified] = [tag(xml, 'Key'), tag(xml, 'Size'), tag(xml, 'LastModified')]
  if (!key || !bytes || !modified) throw badResponse('ListObjectsV2')
  return {
    key: decodeURIComponent(key.replaceAll('+', ' ')),
    bytes: Number(bytes),
    modifiedMs: Date.parse(modified),
  }
}
