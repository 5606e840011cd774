import { expect, it } from 'vitest'
import { settleByLookingUpAtEach } from './recover-from-fault.ts'

it('leaves a file undecided if the object was not found at each required destination', async () => {
  const headObject = async () => ({ etag: 'etag', bytes: 1 })
  const found = { dataStoreId: 'a', required: true, isOpen: true, mayRead: true, bucket: { headObject } }
  const closed = { ...found, dataStoreId: 'b', isOpen: false }
  const upload = {
    fileId: 'file',
    lease: { signal: new AbortController().signal },
    progress: { lengthBytes: 1 },
    destinations: [found, closed],
  }
  const settling = settleByLookingUpAtEach({} as never, upload as never, new Error('no such upload'))
  expect(await settling).toEqual({ kind: 'left' })
})
