import type { Capabilities } from './providers.ts'

export type Encryption = { type: 'SSE-S3' } | { type: 'SSE-KMS'; keyId: string }

/** Where a bucket is, and how objects are to be kept in it. */
export type BucketPlace = {
  endpoint: string
  region: string
  bucket: string
  forcePathStyle: boolean
  storageClass: string | null
  encryption: Encryption | null
  capabilities: Capabilities
}

/** The headers that describe a new object: on PutObject, and on CreateMultipartUpload for the parts to come. */
export function objectHeaders(place: BucketPlace, contentType: string): Record<string, string> {
  const { storageClass, encryption } = place
  return {
    'content-type': contentType,
    ...(storageClass && { 'x-amz-storage-class': storageClass }),
    ...(encryption?.type === 'SSE-S3' && { 'x-amz-server-side-encryption': 'AES256' }),
    ...(encryption?.type === 'SSE-KMS' && {
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': encryption.keyId,
    }),
  }
}
