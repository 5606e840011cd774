import { expect, it } from 'vitest'
import { differenceOf, readHeaders, signaturePart } from './explain-signature.ts'

it('reads headers as lines and as JSON', () => {
  const lines = 'X-Service-Signature: t=1,v1=ab\r\nwebhook-id:  7 \n\nnonsense'
  expect(readHeaders(lines)).toEqual({ 'x-service-signature': 't=1,v1=ab', 'webhook-id': '7' })
  expect(readHeaders('{"Webhook-Id": "7"}')).toEqual({ 'webhook-id': '7' })
})

it('does not mark a matching signature as different because it is old', () => {
  const marks = (['valid', 'too_old', 'too_new', 'mismatch', 'malformed', 'missing'] as const).map(
    (finding) => signaturePart('webhook-signature', finding).ok,
  )
  expect(marks).toEqual([true, true, true, false, false, undefined])
})

it('finds no difference between identical bodies', () => {
  expect(differenceOf('{"a":1}', '{"a":1}')).toBeUndefined()
})

it.each([
  ['{ "a": 1 }', 're-serialized by a JSON parser'],
  ['{"a":2}', 'character 6'],
  ['{"a":1', 'character 7'],
])('explains what is wrong with %s', (received, words) => {
  expect(differenceOf(received, '{"a":1}')).toContain(words)
})

it.each([
  ['a body that is not JSON', 'abc\n', 'abc'],
  ['JSON that has not been re-serialized', '{"a":1}\n', '{"a":1}'],
])('detects leading or trailing whitespace in %s', (_, received, sent) => {
  expect(differenceOf(received, sent)).toContain('trailing whitespace')
})
