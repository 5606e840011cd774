import type { FileObject, FoundCapabilities, ObjectSettings, ProviderName } from '#drizzle/schema/index.ts'
import { type Objection, objectionToBlob } from './azure/blob-settings.ts'

/** What a provider supports and requires, to the extent that uploads depend on it. */
export type Capabilities = {
  protocol: 's3' | 'azure'
  /** The highest part number. The lowest is 1. */
  maxParts: number
  /** All parts except the last must have the same size. */
  equalParts: boolean
  /** The checksum sent with each object and part, which the provider verifies. */
  bodyChecksum: 'crc32' | 'crc64' | 'md5' | null
  /** Verifies a CRC32 of the entire object on CompleteMultipartUpload. */
  fullObjectCrc32: boolean
  /** Supports `If-None-Match: *` on the request that stores an object at once. */
  ifNoneMatch: boolean
  /** Supports `If-None-Match: *` on the request that makes an object of parts. */
  ifNoneMatchOnComplete: boolean
  /** Supports UploadPartCopy. */
  copyParts: boolean
  /** A multipart upload with checksums can include copied parts. */
  checksumsWithCopies: boolean
  /** Put-only credentials get a 403 if the object already exists. */
  deniesReplacing: boolean
  /** The provider deletes unfinished multipart uploads this many hours after they were started. */
  dropsUnfinishedAfterHours: number | null
  /** The object setting that the provider would refuse, and why. Undefined if it supports all of them. */
  objectionTo(object: FileObject | ObjectSettings): Objection | undefined
}

const plain: Capabilities = {
  protocol: 's3',
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
  objectionTo: () => undefined,
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
  // Uncommitted blocks are discarded a week after the last one was sent, so a week after the start is always early enough.
  azure: {
    ...plain,
    protocol: 'azure',
    maxParts: 50_000,
    bodyChecksum: 'crc64',
    ifNoneMatch: true,
    ifNoneMatchOnComplete: true,
    copyParts: false,
    dropsUnfinishedAfterHours: 7 * 24,
    objectionTo: objectionToBlob,
  },
}

/** The bucket check's findings override what is assumed about its provider. */
export function capabilitiesOf(provider: ProviderName, found: FoundCapabilities | null): Capabilities {
  return { ...CAPABILITIES[provider], ...found }
}
