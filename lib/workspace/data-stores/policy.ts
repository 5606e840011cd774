import type { ProviderName } from '#drizzle/schema/index.ts'
import { accountOf as storageAccountOf } from '../../buckets/azure/authorize-azure.ts'
import type { Credentials } from '../../buckets/open-bucket.ts'
import type { ObjectUse } from '../../buckets/probe-bucket.ts'
import { PROBE_FOLDER } from '../../buckets/probe-operations.ts'
import type { DataStoreRow } from './read-data-stores.ts'
import { partitionOf } from './resolve-place.ts'

/** `uses` contains the object settings of the Data Store's Pipes. */
type Place = Pick<DataStoreRow, 'provider' | 'region' | 'bucket' | 'prefix' | 'encryption'> & {
  endpoint?: string
  uses: readonly ObjectUse[]
  credentials?: Credentials
}

/** Providers whose keys are restricted in a console or with a command, not with a JSON policy. */
const IN_WORDS: Partial<Record<ProviderName, (bucket: string, account?: string) => string>> = {
  azure: (bucket, account = '<account>') =>
    `az storage container generate-sas --account-name ${account} --name ${bucket} \\\n  --permissions cw --https-only --expiry <date, such as 2027-12-31> --output tsv`,
  r2: (bucket) =>
    `R2 → Manage API tokens → Create: “Object Read & Write”, applied to the bucket ${bucket} only. R2 has no write-only permission.`,
  b2: (bucket) =>
    `b2 key create --bucket ${bucket} sluice writeFiles\n(“Write Only” in Application Keys, for this bucket.)`,
  spaces: (bucket) =>
    `Spaces Object Storage → Access Keys → Limited Access: “Read/Write/Delete” on ${bucket}.`,
  hetzner: (bucket) =>
    `Hetzner S3 credentials are valid for all buckets in their project: keep ${bucket} in its own project.`,
  oracle: (bucket) =>
    `Allow group <group> to manage objects in compartment <compartment> where all {target.bucket.name = '${bucket}', any {request.permission = 'OBJECT_CREATE', request.permission = 'OBJECT_INSPECT'}}`,
  gcs: (bucket, account = '<account>') =>
    `gcloud storage buckets add-iam-policy-binding gs://${bucket} --member=serviceAccount:${account} --role=roles/storage.objectCreator`,
}

/** Providers whose policies are not attached to an IAM user, or use a different language. */
const OTHERWISE: Partial<Record<ProviderName, (place: Place) => object>> = {
  scaleway: scalewayPolicy,
  alibaba: alibabaPolicy,
}

/** The minimal policy for the keys, ready to paste. PutObject also covers multipart uploads. */
export function leastPolicy(place: Place): string {
  const words = IN_WORDS[place.provider]
  if (words) return words(place.bucket, accountOf(place))
  const policy = (OTHERWISE[place.provider] ?? identityPolicy)(place)
  return JSON.stringify(policy, null, 2)
}

/** The service account that the credentials belong to, or the storage account. */
function accountOf({ provider, endpoint, credentials }: Place): string | undefined {
  if (provider === 'azure') return endpoint && storageAccountOf(endpoint)
  return credentials && 'email' in credentials ? credentials.email : undefined
}

/** An IAM policy for a user. MinIO, Wasabi and others also support IAM policies, and have a single partition. */
function identityPolicy({ provider, region, bucket, prefix, encryption, uses }: Place) {
  const partition = provider === 'aws' ? partitionOf(region).name : 'aws'
  const within = provider === 'aws' ? literally(prefix) : prefix
  const put = {
    Effect: 'Allow',
    Action: ['s3:PutObject', ...(uses.some(({ object }) => object.tags) ? ['s3:PutObjectTagging'] : [])],
    Resource: [`arn:${partition}:s3:::${bucket}/${within}*`],
  }
  const encryptions = [encryption, ...uses.map(({ object }) => object.encryption)]
  const keyIds = encryptions.flatMap((one) => (one?.type === 'SSE-KMS' ? [one.keyId] : []))
  const kms =
    provider === 'aws' ? [...new Set(keyIds)].map((keyId) => kmsStatement(keyId, { partition, region })) : []
  return { Version: '2012-10-17', Statement: [put, ...kms] }
}

/** For these actions, a Resource must contain a key id, not an alias, so an alias goes into a condition. */
function kmsStatement(key: string, { partition, region }: { partition: string; region: string }) {
  const [, arn, name] = /^(arn:[^:]+:kms:[^:]+:[^:]+:)?(.+)$/.exec(key)!
  const keys = `${arn ?? `arn:${partition}:kms:${region}:*:`}key/`
  const allow = { Effect: 'Allow', Action: ['kms:GenerateDataKey', 'kms:Decrypt'] }
  if (!name!.startsWith('alias/')) return { ...allow, Resource: [keys + name!.replace(/^key\//, '')] }
  const Condition = { 'ForAnyValue:StringEquals': { 'kms:ResourceAliases': [name] } }
  return { ...allow, Resource: [`${keys}*`], Condition }
}

/** A bucket policy, for a Scaleway IAM application. */
function scalewayPolicy({ bucket, prefix }: Place) {
  const allow = {
    Sid: 'Sluice',
    Effect: 'Allow',
    Principal: { SCW: 'application_id:<application id>' },
    Action: ['s3:PutObject'],
    Resource: [`${bucket}/${prefix}*`],
  }
  return { Version: '2023-04-17', Id: 'sluice', Statement: [allow] }
}

/** A policy for a RAM user. */
function alibabaPolicy({ bucket, prefix }: Place) {
  const allow = { Effect: 'Allow', Action: ['oss:PutObject'], Resource: [`acs:oss:*:*:${bucket}/${prefix}*`] }
  return { Version: '1', Statement: [allow] }
}

/** Escapes the characters that have a special meaning in a Resource. */
function literally(text: string): string {
  return text.replace(/[*?$]/g, (character) => `\${${character}}`)
}

/** Uploads expire within 30 days, so the rule removes no active ones. */
const CLEAR_AFTER_DAYS = 31

/**
 * Rules for keys that cannot abort or delete: the bucket itself then removes unfinished uploads and the objects left by
 * checks.
 */
export function lifecycleRules(
  { provider, bucket, prefix }: Pick<Place, 'provider' | 'bucket' | 'prefix'>,
  { mayAbort, mayDelete }: { mayAbort: boolean; mayDelete: boolean },
): string | undefined {
  if (provider === 'azure')
    return mayDelete ? undefined : azureLifecycle(`${bucket}/${prefix}${PROBE_FOLDER}/`)
  const unfinished = {
    ID: 'sluice-unfinished-uploads',
    Status: 'Enabled',
    Filter: { Prefix: prefix },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: CLEAR_AFTER_DAYS },
  }
  const checks = {
    ID: 'sluice-checks',
    Status: 'Enabled',
    Filter: { Prefix: `${prefix}${PROBE_FOLDER}/` },
    Expiration: { Days: 1 },
  }
  const Rules = [...(mayAbort ? [] : [unfinished]), ...(mayDelete ? [] : [checks])]
  return Rules.length > 0 ? JSON.stringify({ Rules }, null, 2) : undefined
}

/** A management policy of the storage account. Azure removes unfinished uploads by itself. */
function azureLifecycle(prefix: string): string {
  const filters = { blobTypes: ['blockBlob'], prefixMatch: [prefix] }
  const actions = { baseBlob: { delete: { daysAfterModificationGreaterThan: 1 } } }
  const rule = { enabled: true, name: 'sluice-checks', type: 'Lifecycle', definition: { filters, actions } }
  return JSON.stringify({ rules: [rule] }, null, 2)
}
