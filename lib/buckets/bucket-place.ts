import { isIP } from 'node:net'
import type { Capabilities } from './providers.ts'

type Encryption = { type: 'SSE-S3' } | { type: 'SSE-KMS'; keyId: string }

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

type Addressed = { endpoint: string; bucket: string; forcePathStyle: boolean }

/** A wildcard certificate covers one label, and host names have neither capitals nor underscores. */
const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Virtual-host addressing puts the bucket's name before the host, path style at the start of the path. A name that is not
 * one DNS label always goes into the path, and so does every name if the host is an IP address.
 */
export function addressOf({ endpoint, bucket, forcePathStyle }: Addressed) {
  const base = new URL(endpoint)
  const prefix = base.pathname.replace(/\/+$/, '')
  const inPath = forcePathStyle || !DNS_LABEL.test(bucket) || isIP(unbracketed(base.hostname)) !== 0
  if (inPath) return { base, host: base.host, prefix: `${prefix}/${bucket}`, inPath }
  base.hostname = `${bucket}.${base.hostname}`
  return { base, host: base.host, prefix, inPath }
}

const unbracketed = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')
