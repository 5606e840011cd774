import type { ProviderName } from '#drizzle/schema/index.ts'

/**
 * What a customer need not type. `endpoint` may hold `{region}`; without one the customer gives the address.
 * How a provider behaves under load is not here but in `lib/buckets`.
 */
export type Preset = {
  label: string
  endpoint: string | null
  /** A fixed region, or a pattern that the customer's region must match. */
  region: { fixed: string } | { pattern: RegExp; example: string }
  forcePathStyle: boolean
  /** Where the keys come from, in the provider's own words. */
  keysHint: string
}

const anyRegion = { pattern: /^[a-z0-9-]{1,64}$/i, example: 'us-east-1' }

export const PRESETS: Record<ProviderName, Preset> = {
  aws: {
    label: 'AWS S3',
    endpoint: 'https://s3.{region}.amazonaws.com',
    region: { pattern: /^[a-z]{2,4}(-[a-z]+)+-\d$/, example: 'eu-central-1' },
    forcePathStyle: false,
    keysHint: 'IAM → Users → Security credentials → Create access key',
  },
  r2: {
    label: 'Cloudflare R2',
    endpoint: null,
    region: { fixed: 'auto' },
    forcePathStyle: true,
    keysHint: 'R2 → Manage API tokens → Object Read & Write, for this bucket only',
  },
  b2: {
    label: 'Backblaze B2',
    endpoint: 'https://s3.{region}.backblazeb2.com',
    region: { pattern: /^[a-z]{2}-[a-z]+-\d{3}$/, example: 'us-west-004' },
    forcePathStyle: false,
    keysHint: 'Application Keys → Add a New Application Key (the master key does not speak S3)',
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
    keysHint: 'Cloud Storage → Settings → Interoperability → HMAC key for a service account',
  },
  scaleway: {
    label: 'Scaleway',
    endpoint: 'https://s3.{region}.scw.cloud',
    region: { pattern: /^[a-z]{2}-[a-z]{3}$/, example: 'fr-par' },
    forcePathStyle: false,
    keysHint: 'IAM → API keys, for an application',
  },
  minio: {
    label: 'MinIO',
    endpoint: null,
    region: anyRegion,
    forcePathStyle: true,
    keysHint: 'Access Keys → Create access key',
  },
  other: {
    label: 'Any S3-compatible',
    endpoint: null,
    region: anyRegion,
    forcePathStyle: true,
    keysHint: 'Keys that may put objects into this bucket',
  },
}

/** Providers whose customers give the endpoint themselves. */
export const ENDPOINT_EXAMPLES: Partial<Record<ProviderName, string>> = {
  r2: 'https://<account id>.r2.cloudflarestorage.com',
  minio: 'https://minio.example.com',
  other: 'https://s3.example.com',
}
