import { crc32ToBase64 } from '../../platform/kernel/crc32.ts'
import { type BucketPlace, encryptionOf, type Target } from '../bucket-place.ts'
import { formOf, md5, metadataHeaders } from '../header-values.ts'
import type { Capabilities } from '../providers.ts'

/**
 * The headers that describe a new object, for PutObject and CreateMultipartUpload. Object settings override the
 * bucket's settings, except for a key that the bucket requires.
 */
export function objectHeaders(place: BucketPlace, { contentType, object }: Target): Record<string, string> {
  const { metadata, cacheControl, contentDisposition, tags } = object ?? {}
  const storageClass = object?.storageClass ?? place.storageClass
  const encryption = encryptionOf(place.encryption, object?.encryption)
  return {
    'content-type': contentType,
    ...(storageClass && { 'x-amz-storage-class': storageClass }),
    ...(encryption?.type === 'SSE-S3' && { 'x-amz-server-side-encryption': 'AES256' }),
    ...(encryption?.type === 'SSE-KMS' && {
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': encryption.keyId,
    }),
    ...(cacheControl && { 'cache-control': cacheControl }),
    ...(contentDisposition && { 'content-disposition': contentDisposition }),
    ...(tags && { 'x-amz-tagging': formOf(tags) }),
    ...(metadata && metadataHeaders('x-amz-meta-', metadata)),
  }
}

/**
 * Headers that make the bucket verify the bytes it receives. MD5 costs far more than CRC32, so it is only used for
 * providers that require it.
 */
export function checksumHeaders(
  { bodyChecksum }: Pick<Capabilities, 'bodyChecksum'>,
  body: { chunks: readonly Uint8Array[]; crc32: number },
): Record<string, string> {
  if (bodyChecksum === 'crc32') return { 'x-amz-checksum-crc32': crc32ToBase64(body.crc32) }
  if (bodyChecksum === 'md5') return { 'content-md5': md5(body.chunks) }
  return {}
}
