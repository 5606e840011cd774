import type { BucketUnderTest, Keys } from './ground.ts'

type Environment = Record<string, string | undefined>
export type GivenS3 = Omit<BucketUnderTest, 'close'> & { cannot: string[] }

/** The S3 server to test against the contract, from `S3_TEST_…`; undefined if none is named. */
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
    endpoint,
    region: needed('REGION'),
    bucket: needed('BUCKET'),
    keys,
    putOnlyKeys: hasPutOnly ? pair('PUT_ONLY_') : keys,
    cannot: [...listed, ...(hasPutOnly ? [] : ['lets a put-only key do nothing else'])].filter(Boolean),
  }
}
