import type { ObjectMetadata } from './object-metadata.ts'
import { S3Error } from './s3-error.ts'

const KEPT = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-server-side-encryption-bucket-key-enabled',
  'x-amz-storage-class',
  'x-amz-tagging',
  'x-amz-website-redirect-location',
])

const STORAGE_CLASSES = new Set([
  ...['STANDARD', 'REDUCED_REDUNDANCY', 'STANDARD_IA', 'ONEZONE_IA', 'INTELLIGENT_TIERING'],
  ...['GLACIER', 'GLACIER_IR', 'DEEP_ARCHIVE'],
])
const MAX_METADATA_BYTES = 2048
const MAX_TAGS = 10

/** The headers stored with an object. Encryption is recorded but not applied, so that people can open the files. */
export function headersToKeep(headers: Record<string, string>): Record<string, string> {
  requireValid(headers)
  const kept = Object.entries(headers).filter(([name]) => KEPT.has(name) || name.startsWith('x-amz-meta-'))
  const encoding = withoutTransfer(headers['content-encoding'])
  const { 'content-encoding': _, ...others } = Object.fromEntries(kept)
  return {
    'content-type': 'binary/octet-stream',
    ...others,
    ...(encoding ? { 'content-encoding': encoding } : {}),
  }
}

function requireValid(headers: Record<string, string>): void {
  const storageClass = headers['x-amz-storage-class']
  if (storageClass !== undefined && !STORAGE_CLASSES.has(storageClass))
    throw new S3Error('InvalidStorageClass')
  const metadata = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-'))
  const bytes = metadata.reduce(
    (sum, [name, value]) => sum + name.length - 'x-amz-meta-'.length + value.length,
    0,
  )
  if (bytes > MAX_METADATA_BYTES) throw new S3Error('MetadataTooLarge')
  if (tagsOf(headers).length > MAX_TAGS) throw new S3Error('BadRequest')
}

export function tagsOf(headers: Record<string, string>): [name: string, value: string][] {
  return [...new URLSearchParams(headers['x-amz-tagging'] ?? '')]
}

/** The stored headers that a response to a write repeats. */
export function encryptionHeaders(kept: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(kept).filter(([name]) => name.startsWith('x-amz-server-side-encryption')),
  )
}

/** `aws-chunked` is the transfer format, not the object's encoding. */
function withoutTransfer(encoding: string | undefined): string | undefined {
  const codings = encoding?.split(',').map((coding) => coding.trim())
  return codings?.filter((coding) => coding && coding !== 'aws-chunked').join(', ')
}

/**
 * What GetObject and HeadObject return about an object. The checksum covers the entire object, so a range has none.
 */
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
