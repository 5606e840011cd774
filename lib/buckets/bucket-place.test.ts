import { expect, it } from 'vitest'
import { addressOf, type BucketPlace, storageOf } from './bucket-place.ts'
import { capabilitiesOf } from './providers.ts'
import { objectHeaders } from './s3/request-headers.ts'

it.each([
  ['media', 'https://s3.example.com', false, 'media.s3.example.com', ''],
  ['media', 'https://s3.example.com:9000/base/', false, 'media.s3.example.com:9000', '/base'],
  ['media', 'https://s3.example.com/base', true, 's3.example.com', '/base/media'],
  // Wildcard certificates do not cover two labels, and host names have no capitals or underscores.
  ['my.media', 'https://s3.example.com', false, 's3.example.com', '/my.media'],
  ['Media', 'https://s3.example.com', false, 's3.example.com', '/Media'],
  ['my_media', 'https://s3.example.com', false, 's3.example.com', '/my_media'],
  ['media-', 'https://s3.example.com', false, 's3.example.com', '/media-'],
  ['media', 'http://127.0.0.1:9000', false, '127.0.0.1:9000', '/media'],
  ['media', 'http://[::1]:9000', false, '[::1]:9000', '/media'],
])(
  'the bucket %s at %s (path style: %s) is addressed as %s%s',
  (bucket, endpoint, forcePathStyle, host, prefix) => {
    expect(addressOf({ bucket, endpoint, forcePathStyle })).toMatchObject({ host, prefix })
  },
)

const KEY = { type: 'SSE-KMS', keyId: 'of-the-store' } as const
const OTHER = { type: 'SSE-KMS', keyId: 'of-the-pipe' } as const
const S3 = { type: 'SSE-S3' } as const

const placeWith = (fields: Partial<BucketPlace>): BucketPlace => ({
  endpoint: 'https://s3.example.com',
  region: 'x',
  bucket: 'media',
  forcePathStyle: true,
  storageClass: null,
  encryption: null,
  capabilities: capabilitiesOf('aws', null),
  ...fields,
})

it.each([
  ['nothing if no encryption is set', null, undefined, undefined, undefined],
  ["the Data Store's setting", S3, undefined, 'AES256', undefined],
  ["the Pipe's setting", null, OTHER, 'aws:kms', 'of-the-pipe'],
  ["the Pipe's key if the Data Store has none", S3, OTHER, 'aws:kms', 'of-the-pipe'],
  ["the Data Store's key, whatever the Pipe's setting", KEY, S3, 'aws:kms', 'of-the-store'],
  ["only the Data Store's key", KEY, OTHER, 'aws:kms', 'of-the-store'],
])('encrypts with %s', (_, demanded, asked, algorithm, keyId) => {
  const headers = objectHeaders(placeWith({ encryption: demanded }), {
    key: 'a',
    contentType: 'text/plain',
    object: { encryption: asked },
  })
  expect(headers['x-amz-server-side-encryption']).toBe(algorithm)
  expect(headers['x-amz-server-side-encryption-aws-kms-key-id']).toBe(keyId)
})

it.each([
  ['nothing if the Data Store sets nothing', {}, { cacheControl: 'no-store' }, null],
  [
    "the Data Store's storage class and encryption",
    { storageClass: 'COLD', encryption: S3 },
    null,
    { storageClass: 'COLD', encryption: S3 },
  ],
  [
    'nothing if the object sets both',
    { storageClass: 'COLD', encryption: S3 },
    { storageClass: 'WARM', encryption: OTHER },
    null,
  ],
  [
    "the Data Store's key, whatever the object sets",
    { storageClass: 'COLD', encryption: KEY },
    { storageClass: 'WARM', encryption: OTHER },
    { encryption: KEY },
  ],
])('adds %s', (_, place, object, added) => {
  expect(storageOf(placeWith(place), object)).toEqual(added)
})
