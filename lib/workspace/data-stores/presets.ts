import type { ProviderName } from '#drizzle/schema/index.ts'
import { capabilitiesOf } from '../../buckets/providers.ts'

type Preset = {
  label: string
  endpoint: string | null
  /** A fixed region, or a pattern that the customer's region must match. */
  region: { fixed: string } | { pattern: RegExp; example: string }
  forcePathStyle: boolean
  /** Where to get the keys, in the provider's own words. */
  keysHint: string
  /** Notes for customers before their first upload. The sources are in docs/providers.md. */
  help?: string
}

const FROM_DOCUMENTATION =
  "This preset follows the provider's documentation; the check finds out what your bucket supports."

const anyRegion = { pattern: /^[a-z0-9-]{1,64}$/i, example: 'us-east-1' }

/**
 * Values that customers do not need to enter. `endpoint` may contain `{region}`; if it is null, the customer enters the
 * endpoint. A provider's behavior under load is defined in `lib/buckets` instead.
 */
export const PRESETS: Record<ProviderName, Preset> = {
  aws: {
    label: 'AWS S3',
    endpoint: 'https://s3.{region}.amazonaws.com',
    region: { pattern: /^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/, example: 'eu-central-1' },
    forcePathStyle: false,
    keysHint: 'IAM → Users → Security credentials → Create access key',
    help: 'China, GovCloud and European Sovereign Cloud regions are detected automatically. For dual-stack, FIPS or acceleration, enter the endpoint; for an access point, enter its alias as the bucket. Directory buckets and requester-pays buckets of other accounts are not supported.',
  },
  r2: {
    label: 'Cloudflare R2',
    endpoint: null,
    region: { fixed: 'auto' },
    forcePathStyle: true,
    keysHint: 'R2 → Manage API tokens → Object Read & Write, for this bucket only',
    help: 'R2 drops unfinished uploads after 7 days and cannot concatenate uploads.',
  },
  b2: {
    label: 'Backblaze B2',
    endpoint: 'https://s3.{region}.backblazeb2.com',
    region: { pattern: /^[a-z]{2}-[a-z]+-\d{3}$/, example: 'us-west-004' },
    forcePathStyle: false,
    keysHint: 'Application Keys → Add a New Application Key (the master key does not support S3)',
  },
  wasabi: {
    label: 'Wasabi',
    endpoint: 'https://s3.{region}.wasabisys.com',
    region: { pattern: /^[a-z]{2}-[a-z]+-\d$/, example: 'eu-central-1' },
    forcePathStyle: false,
    keysHint: 'Access Keys → Create New Access Key, for a sub-user',
  },
  spaces: {
    label: 'DigitalOcean Spaces',
    endpoint: 'https://{region}.digitaloceanspaces.com',
    region: { pattern: /^[a-z]{3}\d$/, example: 'fra1' },
    forcePathStyle: false,
    keysHint: 'Spaces Object Storage → Access Keys → limited access, Write on this bucket',
  },
  gcs: {
    label: 'Google Cloud Storage',
    endpoint: 'https://storage.googleapis.com',
    region: { fixed: 'auto' },
    forcePathStyle: true,
    keysHint:
      'IAM & Admin → Service Accounts → Keys → Create new key (JSON); or Cloud Storage → Settings → Interoperability → HMAC key for a service account',
    help: 'The Storage Object Creator role is enough. Google Cloud Storage cannot concatenate uploads.',
  },
  scaleway: {
    label: 'Scaleway',
    endpoint: 'https://s3.{region}.scw.cloud',
    region: { pattern: /^[a-z]{2}-[a-z]{3}$/, example: 'fr-par' },
    forcePathStyle: false,
    keysHint: 'IAM → API keys, for an application',
    help: 'An upload can have at most 1,000 parts. A bucket policy denies everyone it does not name, so include yourself.',
  },
  azure: {
    label: 'Azure Blob Storage',
    endpoint: null,
    region: { fixed: 'auto' },
    forcePathStyle: true,
    keysHint:
      'Storage accounts → your account → Containers → your container → Shared access tokens → Create and Write',
    help: 'The endpoint is under Settings → Endpoints → Blob service. A SAS stops working when it expires, so note the date. Azure drops unfinished uploads after 7 days, and Sluice cannot concatenate uploads there.',
  },
  hetzner: {
    label: 'Hetzner',
    endpoint: 'https://{region}.your-objectstorage.com',
    region: { pattern: /^[a-z]{3}\d$/, example: 'fsn1' },
    forcePathStyle: false,
    keysHint: 'Security → S3 credentials → Generate credentials',
    help: FROM_DOCUMENTATION,
  },
  ovh: {
    label: 'OVHcloud',
    endpoint: 'https://s3.{region}.io.cloud.ovh.net',
    region: { pattern: /^[a-z]{2,4}(-[a-z]+)*(-[a-z\d]+)*$/, example: 'gra' },
    forcePathStyle: false,
    keysHint: 'Object Storage → Object Storage users → Add user, with a policy for this bucket',
    help: FROM_DOCUMENTATION,
  },
  oracle: {
    label: 'Oracle Cloud',
    endpoint: null,
    region: { pattern: /^[a-z]{2}-[a-z]+-\d$/, example: 'eu-frankfurt-1' },
    forcePathStyle: true,
    keysHint: 'User settings → Customer secret keys → Generate secret key',
    help: `The namespace is in Tenancy details → Object storage settings. ${FROM_DOCUMENTATION}`,
  },
  alibaba: {
    label: 'Alibaba Cloud OSS',
    endpoint: 'https://s3.oss-{region}.aliyuncs.com',
    region: { pattern: /^[a-z]{2}-[a-z]+(-\d)?$/, example: 'eu-central-1' },
    forcePathStyle: false,
    keysHint: 'RAM → Users → Create AccessKey, for a RAM user',
    help: `Accounts created since March 2025 need an endpoint on their own domain for buckets in mainland China. ${FROM_DOCUMENTATION}`,
  },
  minio: {
    label: 'MinIO',
    endpoint: null,
    region: anyRegion,
    forcePathStyle: true,
    keysHint: 'Access Keys → Create access key',
    help: 'MinIO drops unfinished uploads 24 hours after their start (stale_uploads_expiry), so a file must arrive within 23 hours.',
  },
  other: {
    label: 'Any S3-compatible',
    endpoint: null,
    region: anyRegion,
    forcePathStyle: true,
    keysHint: 'Keys with permission to put objects in this bucket',
  },
}

/** Example endpoints, for providers whose endpoint customers enter themselves. */
export const ENDPOINT_EXAMPLES: Partial<Record<ProviderName, string>> = {
  r2: 'https://<account id>.r2.cloudflarestorage.com',
  oracle: 'https://<namespace>.compat.objectstorage.eu-frankfurt-1.oraclecloud.com',
  azure: 'https://<account>.blob.core.windows.net',
  minio: 'https://minio.example.com',
  other: 'https://s3.example.com',
}

/** Text for the Pipe page about how long an upload may take if the provider drops unfinished uploads. */
export function unfinishedLimit(provider: ProviderName): string | undefined {
  const { dropsUnfinishedAfterHours: hours } = capabilitiesOf(provider, null)
  if (hours === null) return undefined
  return `${PRESETS[provider].label} drops unfinished uploads ${inWords(hours)} after their start, even if bytes keep arriving. Each upload must finish within ${inWords(hours - 1)}, or it expires.`
}

function inWords(hours: number): string {
  const days = Math.floor(hours / 24)
  const rest = hours % 24
  if (days < 2) return `${hours} hours`
  return rest === 0 ? `${days} days` : `${days} days and ${rest} hours`
}
