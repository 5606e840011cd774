import { expect, it } from 'vitest'
import { dataStoreInput } from './data-store.ts'

const entered = (bucket: string) =>
  dataStoreInput.safeParse({
    name: 'Bucket',
    provider: 'other',
    bucket,
    accessKeyId: 'KEY',
    secretAccessKey: 'a-secret',
  })

it.each([
  ['https://media.example.com', /is an address/],
  ['s3.example.com/media', /is an address/],
  ['media/uploads', /contains a \//],
  ['me dia', /is not a valid bucket name/],
])('explains what is wrong with the bucket name %s', (bucket, message) => {
  expect(entered(bucket).error?.issues).toMatchObject([
    { path: ['bucket'], message: expect.stringMatching(message) },
  ])
})

it('rejects an extremely long bucket name without parsing it, which would take minutes', () => {
  expect(entered('a.'.repeat(40_000)).error?.issues).toMatchObject([
    { path: ['bucket'], message: 'must have at most 223 characters' },
  ])
})
