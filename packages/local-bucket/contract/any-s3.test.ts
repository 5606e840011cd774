import { describe, expect, it } from 'vitest'
import { bucketContract } from '../../../e2e/bucket-contract/bucket-contract.ts'
import { s3OfEnvironment } from '../../../test/support/named-clouds.ts'

const given = s3OfEnvironment(process.env)
if (given) bucketContract(given.endpoint, async () => ({ ...given, close: async () => {} }), given)

describe('the S3 server at S3_TEST_ENDPOINT', () => {
  const environment = {
    S3_TEST_ENDPOINT: 'https://s3.example.com',
    S3_TEST_REGION: 'eu-west-1',
    S3_TEST_BUCKET: 'contract',
    S3_TEST_ACCESS_KEY_ID: 'AKIA',
    S3_TEST_SECRET_ACCESS_KEY: 'secret',
    S3_TEST_CANNOT: 'returns ranges; deletes an object, and accepts a repeated deletion',
  }

  it('is not tested if the variable is not set', () => {
    expect(s3OfEnvironment({})).toBeUndefined()
  })

  it('is used as configured, with its keys as the put-only keys if no others are set', () => {
    expect(s3OfEnvironment(environment)).toEqual({
      provider: 'aws',
      endpoint: 'https://s3.example.com',
      region: 'eu-west-1',
      bucket: 'contract',
      keys: { accessKeyId: 'AKIA', secretAccessKey: 'secret' },
      putOnlyKeys: { accessKeyId: 'AKIA', secretAccessKey: 'secret' },
      cannot: [
        'returns ranges',
        'deletes an object, and accepts a repeated deletion',
        'lets a put-only key do nothing else',
      ],
    })
  })

  it.each(['REGION', 'BUCKET', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'])('requires S3_TEST_%s', (name) => {
    const incomplete = { ...environment, [`S3_TEST_${name}`]: undefined }
    expect(() => s3OfEnvironment(incomplete)).toThrow(`S3_TEST_${name} must be`)
  })
})
