import type { ProviderName } from '#drizzle/schema/index.ts'
import type { DataStoreRow } from './find-data-store.ts'

type Place = Pick<DataStoreRow, 'provider' | 'bucket' | 'prefix' | 'encryption'>

/** Providers whose keys are limited by ticking boxes, not by a policy. */
const IN_WORDS: Partial<Record<ProviderName, (bucket: string) => string>> = {
  r2: (bucket) =>
    `R2 → Manage API tokens → Create: “Object Read & Write”, applied to the bucket ${bucket} only. R2 has no permission that only writes.`,
  b2: (bucket) =>
    `b2 key create --bucket ${bucket} sluice writeFiles\n(“Write Only” in Application Keys, for this bucket.)`,
  spaces: (bucket) =>
    `Spaces Object Storage → Access Keys → Limited Access: “Read/Write/Delete” on ${bucket}.`,
  gcs: (bucket) =>
    `gcloud storage buckets add-iam-policy-binding gs://${bucket} --member=serviceAccount:<account> --role=roles/storage.objectCreator`,
}

/** The least that the keys need, to paste: PutObject covers multipart uploads too. */
export function leastPolicy({ provider, bucket, prefix, encryption }: Place): string {
  const words = IN_WORDS[provider]
  if (words) return words(bucket)
  const statements: object[] = [
    { Effect: 'Allow', Action: ['s3:PutObject'], Resource: [`arn:aws:s3:::${bucket}/${prefix}*`] },
  ]
  if (encryption?.type === 'SSE-KMS') {
    const { keyId } = encryption
    const Resource = keyId.startsWith('arn:') ? keyId : `arn:aws:kms:*:*:key/${keyId}`
    statements.push({ Effect: 'Allow', Action: ['kms:GenerateDataKey', 'kms:Decrypt'], Resource: [Resource] })
  }
  return JSON.stringify({ Version: '2012-10-17', Statement: statements }, null, 2)
}

/** No upload is older than 30 days, so nothing that still moves is cleared. */
const CLEAR_AFTER_DAYS = 31

/** For keys that may not abort: the bucket itself clears what never finished. */
export function lifecycleRule({ prefix }: Pick<Place, 'prefix'>): string {
  const rule = {
    ID: 'sluice-unfinished-uploads',
    Status: 'Enabled',
    Filter: { Prefix: prefix },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: CLEAR_AFTER_DAYS },
  }
  return JSON.stringify({ Rules: [rule] }, null, 2)
}
