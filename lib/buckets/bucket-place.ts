import { isIP } from 'node:net'
import type { FileObject, ObjectStorage } from '#drizzle/schema/index.ts'
import type { Capabilities } from './providers.ts'

type Encryption = { type: 'SSE-S3' } | { type: 'SSE-KMS'; keyId: string }

/** A bucket's location, and how to store objects in it. */
export type BucketPlace = {
  endpoint: string
  region: string
  bucket: string
  forcePathStyle: boolean
  storageClass: string | null
  encryption: Encryption | null
  capabilities: Capabilities
  /** The credentials allow looking up objects. */
  mayRead?: boolean
}

export type Target = { key: string; contentType: string; object?: FileObject | null }
export type Body = { chunks: readonly Uint8Array[]; bytes: number; crc32: number }
export type Options = { signal?: AbortSignal | undefined }
export type Upload = { key: string; multipartId: string }
/** A copied part's CRC32 is only known if the bucket returned it. */
export type NamedPart = { number: number; etag: string; crc32: number | null }

export type ListedObject = { key: string; bytes: number; modifiedMs: number }
/** Some of a bucket's objects, in key order, and where the next page starts. */
export type ListedPage = { objects: ListedObject[]; next: string | null }

/**
 * The bucket's settings that apply to this object because its own settings do not override them. Null if there are
 * none.
 */
export function storageOf(place: BucketPlace, object: FileObject | null): ObjectStorage | null {
  const storageClass = object?.storageClass ? null : place.storageClass
  const encryption = encryptionOf(place.encryption, object?.encryption)
  const ofPlace = encryption === place.encryption ? encryption : null
  if (!storageClass && !ofPlace) return null
  return { ...(storageClass && { storageClass }), ...(ofPlace && { encryption: ofPlace }) }
}

/** A Pipe may require stronger encryption than its Data Store, but cannot drop or replace the Data Store's key. */
export function encryptionOf(demanded: Encryption | null, asked: Encryption | undefined): Encryption | null {
  return demanded?.type === 'SSE-KMS' ? demanded : (asked ?? demanded)
}

type Addressed = { endpoint: string; bucket: string; forcePathStyle: boolean }

/** A wildcard certificate covers one label, and host names have no capitals or underscores. */
const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Virtual-host addressing puts the bucket's name in front of the host, and path style puts it at the start of the
 * path. A name that is not a single DNS label always goes into the path, as does every name if the host is an IP
 * address.
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
