import type { FoundCapabilities, ProviderName } from '#drizzle/schema/index.ts'

/** What a provider's S3 can do and what it demands, as far as uploads depend on it. */
export type Capabilities = {
  /** Part numbers go from 1 to here. */
  maxParts: number
  /** All parts but the last must have one size. */
  equalParts: boolean
  /** Sent with each PutObject and UploadPart, and checked there. */
  bodyChecksum: 'crc32' | 'md5' | null
  /** Checks a CRC32 of the whole object on CompleteMultipartUpload. */
  fullObjectCrc32: boolean
  /** Takes `If-None-Match: *` on PutObject. */
  ifNoneMatch: boolean
  /** And on CompleteMultipartUpload. */
  ifNoneMatchOnComplete: boolean
  /** Has UploadPartCopy. */
  copyParts: boolean
  /** A multipart upload with checksums takes copied parts. */
  checksumsWithCopies: boolean
  /** Keys that may only put objects are refused, with 403, where one is there. */
  deniesReplacing: boolean
  /** Unfinished multipart uploads are dropped by the provider itself so many hours after their beginning. */
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
 * A provider that does not document a feature is taken to lack it: an unknown header makes some of them refuse
 * the request, and nothing but a second look at the bytes is lost without it. The sources are in docs/providers.md.
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
  // Of these nothing is known for sure but their addresses: what they can do, the check finds.
  hetzner: { ...plain, copyParts: false },
  ovh: { ...plain, copyParts: false },
  oracle: { ...plain, copyParts: false },
  alibaba: { ...plain, copyParts: false },
  other: { ...plain, copyParts: false },
}

/** What the check of a bucket found out stands above what is known of its provider. */
export function capabilitiesOf(provider: ProviderName, found: FoundCapabilities | null): Capabilities {
  return { ...CAPABILITIES[provider], ...found }
}
