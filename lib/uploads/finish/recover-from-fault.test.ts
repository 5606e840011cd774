import { expect, it } from 'vitest'
import { BucketError } from '../../buckets/bucket-error.ts'
import { recoverFromFault } from './recover-from-fault.ts'

it.each([
  ['transferred', 'was found at each required destination', true],
  ['refused', 'was not looked up at each required destination', false],
])('a file without its multipart upload is %s if its object %s', async (state, _, isOpen) => {
  const bucket = { headObject: async () => ({ etag: 'etag', bytes: 1 }) }
  const open = { required: true, isOpen: true, mayRead: true, bucket, multipartId: 'id' }
  const lease = { signal: new AbortController().signal, whileHeld: (work: unknown) => work }
  const upload = {
    lease: { ...lease, release: async () => {}, forget: () => {} },
    progress: { lengthBytes: 1 },
    numbers: { boundAfterRelease: () => undefined },
    destinations: [open, { ...open, isOpen }],
  }
  const context = {
    db: { transaction: async () => 'transferred' },
    clock: { now: () => 0 },
    metrics: { uploadsFinished: { inc: () => {} } },
  }
  const parts = { sentParts: 1, discard: async () => {} }
  const fault = new BucketError('no_such_upload', 'NoSuchUpload', 'There is no such upload.')
  const recovered = recoverFromFault(context as never, upload as never, parts as never, {
    fault,
    mayFinish: true,
  })
  expect(await recovered).toMatchObject({ state })
})
