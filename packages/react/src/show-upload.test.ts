import { expect, it } from 'vitest'
import { stepOf } from './show-upload.ts'

const failed = { id: 'a', name: 'a.txt', type: '', size: 10, state: 'failed', sentBytes: 0 } as const

it.each([
  [undefined, 'retry'],
  ['checksum_mismatch', 'retry'],
  ['quota_exceeded', 'retry'],
  ['type_not_allowed', undefined],
  ['file_too_large', undefined],
  ['upload_rejected', undefined],
  ['token_exhausted', undefined],
  ['file_changed', undefined],
])('offers a retry of a failure with the code %s only if it may help', (code, step) => {
  expect(stepOf({ ...failed, code })).toBe(step)
})
