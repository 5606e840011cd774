import { expect, it } from 'vitest'
import type { ProviderName } from '#drizzle/schema/index.ts'
import { objectInConsole } from './object-in-console.ts'

const key = '2026/a film & more.mp4'
const at = (provider: ProviderName, endpoint: string, region = 'eu-central-1', bucket = 'media') =>
  objectInConsole({ provider, endpoint, region, bucket, key })?.href

it.each([
  [
    'aws',
    'https://s3.eu-central-1.amazonaws.com',
    'https://eu-central-1.console.aws.amazon.com/s3/object/media?region=eu-central-1&prefix=2026%2Fa%20film%20%26%20more.mp4',
  ],
  [
    'gcs',
    'https://storage.googleapis.com',
    'https://console.cloud.google.com/storage/browser/_details/media/2026/a%20film%20%26%20more.mp4',
  ],
  [
    'r2',
    'https://0a1b2c.r2.cloudflarestorage.com',
    'https://dash.cloudflare.com/0a1b2c/r2/default/buckets/media/objects/2026%2Fa%20film%20%26%20more.mp4/details',
  ],
] as const)('knows where the console of %s shows an object', (provider, endpoint, address) =>
  expect(at(provider, endpoint)).toBe(address),
)

it('offers no address that may be wrong', () => {
  expect(at('b2', 'https://s3.us-west-004.backblazeb2.com')).toBeUndefined()
  expect(at('other', 'https://s3.eu-central-1.amazonaws.com')).toBeUndefined()
  expect(at('aws', 'https://s3.cn-north-1.amazonaws.com.cn', 'cn-north-1')).toBeUndefined()
  expect(at('aws', 'https://s3.us-gov-west-1.amazonaws.com', 'us-gov-west-1')).toBeUndefined()
  expect(
    at('aws', 'https://s3.eu-central-1.amazonaws.com', 'eu-central-1', 'point-x1-s3alias'),
  ).toBeUndefined()
  expect(at('r2', 'https://0a1b2c.eu.r2.cloudflarestorage.com')).toBeUndefined()
})
