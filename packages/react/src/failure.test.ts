import { expect, it } from 'vitest'
import { readFailure } from './failure.ts'

it.each([
  ['{"detail":"The free tier has no transfer left.","code":"quota_exceeded"}', 'quota_exceeded'],
  ['{"detail":"Not here."}', undefined],
])('reads the error in the response %j', (answer, code) => {
  expect(readFailure(403, answer)).toMatchObject({ message: JSON.parse(answer).detail, status: 403, code })
})

it.each(['{"detail":7}', 'null', '<html>', '', undefined])(
  'names the status for the response %j',
  (answer) => {
    expect(readFailure(403, answer)).toMatchObject({
      message: 'The server responded with 403',
      status: 403,
      code: 'status',
    })
  },
)
