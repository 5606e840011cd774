import { expect, it } from 'vitest'
import { monthOf } from './month-of.ts'

const GB = 1e9

it.each([
  { files: 0, fileBytes: 20e6, paidBytes: 0, requests: 0 },
  { files: 1000, fileBytes: 8 * 1024 ** 2, paidBytes: 0, requests: 1000 },
  { files: 1000, fileBytes: 20e6, paidBytes: 10 * GB, requests: 5000 },
  // Parts of 11 MiB, so that the upload needs fewer than 10,000 of them.
  { files: 1, fileBytes: 100 * GB, paidBytes: 90 * GB, requests: 8672 },
])(
  '$files files of $fileBytes bytes take $requests requests',
  ({ files, fileBytes, paidBytes, requests }) => {
    expect(monthOf({ files, fileBytes, freeTierBytes: 10 * GB })).toMatchObject({ paidBytes, requests })
    expect(monthOf({ files, fileBytes, freeTierBytes: 0 }).paidBytes).toBe(0)
  },
)
