import type { FoundCapabilities, ProviderName } from '#drizzle/schema/index.ts'

/** What a provider's S3 API supports and requires, to the extent that uploads depend on it. */
export type Capabilities = {
  /** The highest part number. The lowest is 1. */
  maxParts: number
  /** All parts except the last must have the same size. */
  equalParts: boolean
  /** The checksum sent with each PutObject and UploadPart, which the provider verifies. */
  bodyChecksum: 'crc32' | 'md5' | null
  /** Verifies a CRC32 of the entire object on CompleteMultipartUpload. */
  fullObjectCrc32: boolean
  /** Supports `If-None-Match: *` on PutObject. */
  ifNoneMatch: boolean
  /** Supports `If-None-Match: *` on CompleteMultipartUpload. */
  ifNoneMatchOnComplete: boolean
  /** Supports UploadPartCopy. */
  copyParts: boolean
  /** A multipart upload with checksums can include copied parts. */
  checksumsWithCopies: boolean
  /** Put-only credentials get a 403 if the object already exists. */
  deniesReplacing: boolean
  /** The provider deletes unfinished multipart uploads this many hours after they were started. */
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
 * Features that are not documented are assumed to be missing: some providers refuse a request with an unknown header,
 * while a missing feature only costs a second check of the bytes. The sources are in docs/providers.md.
 */
const CAPABILITIES: Record<ProviderName, Capabilities> = {
  aws: complete,
  minio: { ...complete, checksumsWithCopies: false, dropsUnfinishedAfterHours: 24 },
  // R2 verifies entire objects only with CRC64NVME, and deletes unfinished uploads after a week.
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
  // In GCS, multipart uploads do not support preconditions.
  gcs: { ...plain, copyParts: false, deniesReplacing: true },
  scaleway: { ...plain, maxParts: 1000 },
  // Only the addresses of the following providers are certain. The bucket check finds out what they support.
  hetzner: { ...plain, copyParts: false },
  ovh: { ...plain, copyParts: false },
  oracle: { ...plain, copyParts: false },
  alibaba: { ...plain, copyParts: false },
  other: { ...plain, copyParts: false },
}

/** The bucket check's findings override what is assumed about its provider. */
export function capabilitiesOf(provider: ProviderName, found: FoundCapabilities | null): Capabilities {
  return { ...CAPABILITIES[provider], ...found }
}
