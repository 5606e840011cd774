import { expect, it } from 'vitest'
import { completeness, countField, limitHeader, spokenVersion, stateHeaders } from './fields.ts'

const spoken = (interop: string | undefined, isPublished?: boolean) =>
  spokenVersion({ 'upload-draft-interop-version': interop }, isPublished)

it.each(['3', '6', '8', '9', '10'])('interop version %s is known', (interop) => {
  expect(spoken(interop)).toMatchObject({ interop: Number(interop), known: true })
})

it.each(['7', '11', '-8', '8.0', 'eight', '8, 9', undefined])(
  'interop version %s is not known',
  (interop) => {
    expect(spoken(interop).known).toBe(false)
  },
)

it('a client that sends no version is known once the RFC is published', () => {
  expect(spoken(undefined, true)).toMatchObject({ interop: null, known: true })
})

it.each([
  ['?1', true],
  ['?0', false],
  ['?1;a=b', true],
  ['1', undefined],
  ['?1, ?1', undefined],
  ['', undefined],
])('reads Upload-Complete: %s as %s', (field, says) => {
  expect(completeness({ 'upload-complete': field })).toBe(says)
})

it('Upload-Incomplete means the opposite of Upload-Complete', () => {
  expect(completeness({ 'upload-incomplete': '?0' })).toBe(true)
  expect(stateHeaders(spoken('3'), { complete: false })).toEqual({ 'Upload-Incomplete': '?1' })
})

it.each([
  ['0', 0],
  ['999999999999999', 999_999_999_999_999],
  ['-1', undefined],
  ['1.0', undefined],
  ['1000000000000000', undefined],
  ['"5"', undefined],
])('reads the count %s as %s', (field, count) => {
  expect(countField(field)).toBe(count)
})

it.each([
  ['3', {}],
  ['6', { 'Upload-Limit': 'max-size=100, min-size=0, expires=9' }],
  ['8', { 'Upload-Limit': 'max-size=100, min-size=0, max-age=9' }],
])('sends limits to clients of interop version %s as %j', (interop, header) => {
  expect(limitHeader(spoken(interop), { maxBytes: 100, aliveMs: 9999 })).toEqual(header)
})
