import { expect, it } from 'vitest'
import { tellFailure } from './failure.ts'

it.each([
  ['{"detail":"The free tier has no transfer left."}', 'The free tier has no transfer left.'],
  ['{"detail":7}', 'tus: failed'],
  ['null', 'tus: failed'],
  ['<html>', 'tus: failed'],
  ['', 'tus: failed'],
  [undefined, 'tus: failed'],
])('uses the message in the response %j', (answer, told) => {
  expect(tellFailure('tus: failed', answer)).toBe(told)
})
