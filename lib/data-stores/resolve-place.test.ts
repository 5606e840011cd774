import { describe, expect, it } from 'vitest'
import { isSluiceError } from '../kernel/errors.ts'
import { parseInput } from '../kernel/parse-input.ts'
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

describe('the place of a Data Store', () => {
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
    [{ provider: 'spaces', region: 'fra1' }, 'https://fra1.digitaloceanspaces.com', 'fra1', false],
  ])('is filled in by the preset: %j', (fields, endpoint, region, forcePathStyle) => {
    expect(check(fields)).toEqual({ endpoint, region, forcePathStyle })
  })

  it.each([
    [{ accessKeyId: ' AKIAEXAMPLE' }, 'accessKeyId has white space'],
    [{ secretAccessKey: 'wJalrXUtnFEMI\n' }, 'secretAccessKey has white space'],
    [{ bucket: 'https://media.s3.amazonaws.com' }, 'bucket is an address'],
    [{ bucket: 's3://media' }, 'bucket is an address'],
    [{ bucket: 'media/uploads' }, 'bucket has a / in it'],
    [{ bucket: 'no spaces' }, 'bucket is not the name of a bucket'],
    [{ region: 'frankfurt' }, 'region is not a region of AWS S3; they look like eu-central-1'],
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
    [{ endpoint: 'https://media.s3.eu-central-1.amazonaws.com' }, 'endpoint has the bucket in it'],
    [{ prefix: '/in' }, 'prefix must not start with /'],
    [{ prefix: 'a/../b' }, 'prefix must not have ..'],
  ])('has a message of its own for %j', (fields, words) => {
    const found = faults(fields)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(words)
  })

  it('may be plain http on a host that the operator named', () => {
    const mine = { provider: 'minio', region: undefined, endpoint: 'http://minio.internal:9000' }
    expect(faults(mine, ['minio.internal:9000'])).toEqual([])
    expect(faults(mine, ['other.internal:9000'])).toHaveLength(1)
    expect(faults(mine, ['*'])).toEqual([])
  })
})
