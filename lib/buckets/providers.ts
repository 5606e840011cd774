import type { ProviderName } from '#drizzle/schema/index.ts'

/** What a provider's S3 can do and what it demands, as far as uploads depend on it. */
export type Capabilities = {
  /** Part numbers go from 1 to here. */
  maxParts: number
  /** All parts but the last must have one size. */
  equalParts: boolean
  /** Takes `x-amz-checksum-crc32` with each part and each PutObject, and checks it. */
  partChecksum: boolean
  /** Checks a CRC32 of the whole object on CompleteMultipartUpload. */
  fullObjectCrc32: boolean
  /** Takes `If-None-Match: *` on PutObject. */
  ifNoneMatch: boolean
  /** Unfinished multipart uploads are dropped by the provider itself after so many days. */
  dropsUnfinishedAfterDays: number | null
}

const plain: Capabilities = {
  maxParts: 10_000,
  equalParts: false,
  partChecksum: false,
  fullObjectCrc32: false,
  ifNoneMatch: false,
  dropsUnfinishedAfterDays: null,
}
const complete: Capabilities = { ...plain, partChecksum: true, fullObjectCrc32: true, ifNoneMatch: true }

/**
 * A provider that does not document a feature is taken to lack it: an unknown header makes some of them refuse
 * the request, and nothing but a second look at the bytes is lost without it.
 */
export const CAPABILITIES: Record<ProviderName, Capabilities> = {
  aws: complete,
  minio: complete,
  // Whole objects only by CRC64NVME; unfinished uploads go after a week.
  r2: { ...plain, equalParts: true, partChecksum: true, ifNoneMatch: true, dropsUnfinishedAfterDays: 7 },
  b2: plain,
  wasabi: plain,
  spaces: plain,
  // Multipart uploads take no preconditions.
  gcs: plain,
  scaleway: { ...plain, maxParts: 1000 },
  other: plain,
}
