import type { ProviderName } from '#drizzle/schema/index.ts'
import type { BucketUnderTest, Keys } from '../../e2e/bucket-contract/ground.ts'

/** Servers for tests and drills that are not the tests' own, such as MinIO and Azurite. Environment variables name them. */

type Environment = Record<string, string | undefined>
export type GivenS3 = Omit<BucketUnderTest, 'close'> & { provider: ProviderName; cannot: string[] }
export type GivenAzure = NonNullable<typeof namedAzure>

/** The server with S3's protocol, from `S3_TEST_…`; undefined if none is named. */
export function s3OfEnvironment(environment: Environment): GivenS3 | undefined {
  const endpoint = environment.S3_TEST_ENDPOINT
  if (!endpoint) return undefined
  const needed = (name: string): string => {
    const value = environment[`S3_TEST_${name}`]
    if (!value) throw new Error(`S3_TEST_ENDPOINT is set, so S3_TEST_${name} must be set, too`)
    return value
  }
  const pair = (prefix: string): Keys => ({
    accessKeyId: needed(`${prefix}ACCESS_KEY_ID`),
    secretAccessKey: needed(`${prefix}SECRET_ACCESS_KEY`),
  })
  const keys = pair('')
  const hasPutOnly = environment.S3_TEST_PUT_ONLY_ACCESS_KEY_ID !== undefined
  const listed = (environment.S3_TEST_CANNOT ?? '').split(';').map((clause) => clause.trim())
  return {
    provider: (environment.S3_TEST_PROVIDER ?? 'aws') as ProviderName,
    endpoint,
    region: needed('REGION'),
    bucket: needed('BUCKET'),
    keys,
    putOnlyKeys: hasPutOnly ? pair('PUT_ONLY_') : keys,
    cannot: [...listed, ...(hasPutOnly ? [] : ['lets a put-only key do nothing else'])].filter(Boolean),
  }
}

const { AZURE_TEST_ENDPOINT, AZURE_TEST_CONTAINER = '', AZURE_TEST_KEY = '', AZURE_TEST_SAS } = process.env

export const namedS3 = s3OfEnvironment(process.env)
/** Its endpoint is, for example, http://127.0.0.1:10000/devstoreaccount1. */
export const namedAzure = AZURE_TEST_ENDPOINT
  ? {
      provider: 'azure' as const,
      endpoint: AZURE_TEST_ENDPOINT,
      region: 'auto',
      bucket: AZURE_TEST_CONTAINER,
      keys: AZURE_TEST_SAS ? { sasToken: AZURE_TEST_SAS } : { storageAccountKey: AZURE_TEST_KEY },
    }
  : undefined
