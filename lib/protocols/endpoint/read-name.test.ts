import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import { readName } from './file-response.ts'

const named = (name: string | undefined, disposition?: string) =>
  readName({ name, headers: { 'content-disposition': disposition } })

it.each([
  ['film.bin', 'film.bin'],
  ['my%20film%2C%20cut%20%E2%84%962.mp4', 'my film, cut №2.mp4'],
  ['..%2F..%2Fetc%2Fpasswd', 'passwd'],
  ['a/b/c.txt', 'c.txt'],
  ['C%3A%5Cfilms%5Ca.mov', 'a.mov'],
  ['a%00b', 'ab'],
  ['..', 'file'],
  ['%2e%2e/', 'file'],
])('reads the address %s as the name %s', (path, name) => {
  expect(named(path)).toBe(name)
})

it.each([
  ['attachment; filename="a b.txt"', 'a b.txt'],
  ['inline; filename=plain.txt', 'plain.txt'],
  ['inline; filename="x.jpg"; filename*=UTF-8\'\'%e2%82%ac%20rates.jpg', '€ rates.jpg'],
  [Buffer.from('attachment; filename="naïve.txt"').toString('latin1'), 'naïve.txt'],
  ['attachment; filename="na\xefve.txt"', 'naïve.txt'],
  ['attachment; filename="../../x.txt"', 'x.txt'],
  ['attachment', 'file'],
  ['', 'file'],
])('if the address has no name, reads Content-Disposition: %s as the name %s', (header, name) => {
  expect(named(undefined, header)).toBe(name)
  expect(named('address.txt', header)).toBe('address.txt')
})

it('for any input, returns a name without separators or rejects the request', () => {
  const text = fc.option(fc.string({ unit: 'binary' }), { nil: undefined })
  fc.assert(
    fc.property(text, text, (path, header) => {
      try {
        expect(named(path, header)).toMatch(/^[^/\\\0]+$/)
      } catch (error) {
        if (!isSluiceError(error)) throw error
        expect(error.code).toBe('invalid_request')
      }
    }),
    { numRuns: 500 },
  )
})
