import { expect, it } from 'vitest'
import { addressOf } from './bucket-place.ts'

it.each([
  ['media', 'https://s3.example.com', false, 'media.s3.example.com', ''],
  ['media', 'https://s3.example.com:9000/base/', false, 'media.s3.example.com:9000', '/base'],
  ['media', 'https://s3.example.com/base', true, 's3.example.com', '/base/media'],
  // No certificate covers two labels, and no host has capitals or underscores.
  ['my.media', 'https://s3.example.com', false, 's3.example.com', '/my.media'],
  ['Media', 'https://s3.example.com', false, 's3.example.com', '/Media'],
  ['my_media', 'https://s3.example.com', false, 's3.example.com', '/my_media'],
  ['media-', 'https://s3.example.com', false, 's3.example.com', '/media-'],
  ['media', 'http://127.0.0.1:9000', false, '127.0.0.1:9000', '/media'],
  ['media', 'http://[::1]:9000', false, '[::1]:9000', '/media'],
])('of %s at %s (path style: %s) is %s%s', (bucket, endpoint, forcePathStyle, host, prefix) => {
  expect(addressOf({ bucket, endpoint, forcePathStyle })).toMatchObject({ host, prefix })
})
