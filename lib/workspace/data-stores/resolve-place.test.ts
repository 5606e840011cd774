import { describe, expect, it } from 'vitest'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { dataStoreInput } from './data-store.ts'
import { resolvePlace } from './resolve-place.ts'

const good = {
  name: 'Media',
  provider: 'aws',
  region: 'eu-central-1',
  bucket: 'media',
  accessKeyId: 'AKIAEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG',
}

function check(fields: object, allowed: string[] = []) {
  return resolvePlace(parseInput(dataStoreInput, { ...good, ...fields }), allowed)
}

function faults(fields: object, allowed: string[] = []): string[] {
  try {
    check(fields, allowed)
  } catch (error) {
    if (isSluiceError(error)) return error.fields!.map(({ field, message }) => `${field} ${message}`)
  }
  return []
}

describe("a Data Store's location", () => {
  it.each([
    [{}, 'https://s3.eu-central-1.amazonaws.com', 'eu-central-1', false],
    [
      { provider: 'b2', region: 'us-west-004' },
      'https://s3.us-west-004.backblazeb2.com',
      'us-west-004',
      false,
    ],
    [{ provider: 'gcs', region: undefined }, 'https://storage.googleapis.com', 'auto', true],
    [
      { provider: 'r2', region: undefined, endpoint: 'https://abc.r2.cloudflarestorage.com/' },
      'https://abc.r2.cloudflarestorage.com',
      'auto',
      true,
    ],
    [
      { provider: 'minio', region: undefined, endpoint: 'https://minio.example.com:9000' },
      'https://minio.example.com:9000',
      'us-east-1',
      true,
    ],
    [{ region: 'cn-north-1' }, 'https://s3.cn-north-1.amazonaws.com.cn', 'cn-north-1', false],
    [{ region: 'us-gov-west-1' }, 'https://s3.us-gov-west-1.amazonaws.com', 'us-gov-west-1', false],
    [{ region: 'eusc-de-east-1' }, 'https://s3.eusc-de-east-1.amazonaws.eu', 'eusc-de-east-1', false],
    [{ provider: 'hetzner', region: 'fsn1' }, 'https://fsn1.your-objectstorage.com', 'fsn1', false],
    [{ provider: 'ovh', region: 'gra' }, 'https://s3.gra.io.cloud.ovh.net', 'gra', false],
    [
      { provider: 'alibaba', region: 'cn-hangzhou' },
      'https://s3.oss-cn-hangzhou.aliyuncs.com',
      'cn-hangzhou',
      false,
    ],
    [{ provider: 'spaces', region: 'fra1' }, 'https://fra1.digitaloceanspaces.com', 'fra1', false],
  ])('takes omitted values from the preset: %j', (fields, endpoint, region, forcePathStyle) => {
    expect(check(fields)).toEqual({ endpoint, region, forcePathStyle })
  })

  it.each([
    [{ accessKeyId: ' AKIAEXAMPLE' }, 'accessKeyId contains white space'],
    [{ secretAccessKey: 'wJalrXUtnFEMI\n' }, 'secretAccessKey contains white space'],
    [{ bucket: 'https://media.s3.amazonaws.com' }, 'bucket is an address'],
    [{ bucket: 's3://media' }, 'bucket is an address'],
    [{ bucket: 'media/uploads' }, 'bucket contains a /'],
    [{ bucket: 'no spaces' }, 'bucket is not a valid bucket name'],
    [{ region: 'frankfurt' }, 'region is not a region of AWS S3; regions look like eu-central-1'],
    [{ region: undefined }, 'region is required'],
    [
      { provider: 'r2', region: 'weur', endpoint: 'https://a.r2.cloudflarestorage.com' },
      'region must be auto',
    ],
    [
      { endpoint: 'https://s3.us-east-1.amazonaws.com' },
      'region is eu-central-1, but the endpoint is in us-east-1',
    ],
    [{ provider: 'r2', region: undefined }, 'endpoint is required, such as https://<account id>'],
    [{ endpoint: 'http://s3.example.com' }, 'endpoint is plain http'],
    [{ endpoint: 'https://s3.example.com/media' }, 'endpoint must end after the host'],
    [{ endpoint: 's3.example.com' }, 'endpoint must be an address'],
    [{ endpoint: 'https://media.s3.eu-central-1.amazonaws.com' }, 'endpoint contains the bucket'],
    [{ prefix: '/in' }, 'prefix must not start with /'],
    [{ prefix: 'a/../b' }, 'prefix must not contain ..'],
  ])('explains what is wrong with %j', (fields, words) => {
    const found = faults(fields)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(words)
  })

  it.each([
    ['https://s3.dualstack.eu-central-1.amazonaws.com', {}],
    ['https://s3-fips.us-gov-west-1.amazonaws.com', { region: 'us-gov-west-1' }],
    ['https://s3-fips.dualstack.us-east-1.amazonaws.com', { region: 'us-east-1' }],
    ['https://s3.dualstack.cn-north-1.amazonaws.com.cn', { region: 'cn-north-1' }],
    ['https://s3-eu-central-1.amazonaws.com', {}],
    ['https://s3.amazonaws.com', { region: 'us-east-1' }],
    ['https://s3-accelerate.amazonaws.com', {}],
    ['https://s3-accelerate.dualstack.amazonaws.com', {}],
    ['https://s3.wasabisys.com', { provider: 'wasabi', region: 'us-east-1' }],
    ['https://bucket.vpce-1a2b3c4d-5e6f.s3.us-east-1.vpce.amazonaws.com', { region: 'us-east-1' }],
  ])('can have the endpoint %s', (endpoint, fields) => {
    expect(faults({ endpoint, ...fields })).toEqual([])
    expect(check({ endpoint, ...fields }).endpoint).toBe(endpoint)
  })

  it.each([
    'https://s3.dualstack.us-east-1.amazonaws.com',
    'https://s3-fips.us-east-1.amazonaws.com',
    'https://s3.us-east-1.amazonaws.com',
  ])('must match the region in %s', (endpoint) => {
    expect(faults({ endpoint })).toEqual(['region is eu-central-1, but the endpoint is in us-east-1'])
  })

  it('can be an access point alias, but not a directory bucket', () => {
    const alias = 'my-point-hrzrlukc5m36ft7okagglf3gmwluquse1b-s3alias'
    expect(check({ bucket: alias }).endpoint).toBe('https://s3.eu-central-1.amazonaws.com')
    expect(faults({ bucket: 'media--euc1-az1--x-s3' })).toEqual([
      expect.stringMatching(/^bucket is a directory bucket \(S3 Express One Zone\)/),
    ])
  })

  it('can use plain http on a host that the operator has allowed', () => {
    const mine = { provider: 'minio', region: undefined, endpoint: 'http://minio.internal:9000' }
    expect(faults(mine, ['minio.internal:9000'])).toEqual([])
    expect(faults(mine, ['other.internal:9000'])).toHaveLength(1)
    expect(faults(mine, ['*'])).toEqual([])
  })
})
