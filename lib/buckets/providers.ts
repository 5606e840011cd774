import type { FoundCapabilities, ProviderName } from '#drizzle/schema/index.ts'

/** What a provider's S3 can do and what it demands, as far as uploads depend on it. */
export type Capabilities = {
  /** Part numbers go from 1 to this. */
  maxParts: number
  /** All parts but the last must have one size. */
  equalParts: boolean
  /** Sent with each PutObject and UploadPart, and checked there. */
  bodyChecksum: 'crc32' | 'md5' | null
  /** Checks a CRC32 of the whole object on CompleteMultipartUpload. */
  fullObjectCrc32: boolean
  /** Takes `If-None-Match: *` on PutObject. */
  ifNoneMatch: boolean
  /** Takes `If-None-Match: *` on CompleteMultipartUpload. */
  ifNoneMatchOnComplete: boolean
  /** Has UploadPartCopy. */
  copyParts: boolean
  /** A multipart upload with checksums takes copied parts. */
  checksumsWithCopies: boolean
  /** Credentials that may only put get a 403 if the object already exists. */
  deniesReplacing: boolean
  /** The provider itself drops multipart uploads that are unfinished this many hours after they began. */
  dropsUnfinishedAfterHours: number | null
}

const plain: Capabilities = {
  maxParts: 10_000,
  equalParts: false,
  bodyChecksum: null,
  fullObjectCrc32: false,
  ifNoneMatch: false,
  ifNoneMatchOnComplete: false,
  copyParts: true,
  checksumsWithCopies: true,
  deniesReplacing: false,
  dropsUnfinishedAfterHours: null,
}
const complete: Capabilities = {
  ...plain,
  bodyChecksum: 'crc32',
  fullObjectCrc32: true,
  ifNoneMatch: true,
  ifNoneMatchOnComplete: true,
}

/**
 * A provider that does not document a feature is assumed not to have it: some of them refuse a request with an unknown
 * header, and all that is lost without it is a second check of the bytes. The sources are in docs/providers.md.
 */
const CAPABILITIES: Record<ProviderName, Capabilities> = {
  aws: complete,
  minio: { ...complete, checksumsWithCopies: false, dropsUnfinishedAfterHours: 24 },
  // Whole objects only by CRC64NVME; unfinished uploads go after a week.
  r2: {
    ...plain,
    equalParts: true,
    bodyChecksum: 'crc32',
    ifNoneMatch: true,
    dropsUnfinishedAfterHours: 7 * 24,
  },
  b2: plain,
  wasabi: plain,
  spaces: plain,
  // Multipart uploads take no preconditions.
  gcs: { ...plain, copyParts: false, deniesReplacing: true },
  scaleway: { ...plain, maxParts: 1000 },
  // Only the addresses of these are known for sure; the bucket check finds out what they can do.
  hetzner: { ...plain, copyParts: false },
  ovh: { ...plain, copyParts: false },
  oracle: { ...plain, copyParts: false },
  alibaba: { ...plain, copyParts: false },
  other: { ...plain, copyParts: false },
}

/** What the check of a bucket has found overrides what is assumed of its provider. */
export function capabilitiesOf(provider: ProviderName, found: FoundCapabilities | null): Capabilities {
  return { ...CAPABILITIES[provider], ...found }
}
