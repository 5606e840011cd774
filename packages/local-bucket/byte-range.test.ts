import { describe, expect, it } from 'vitest'
import { readRange } from './operations/objects.ts'

describe('readRange', () => {
  it.each([
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=2-', { first: 2, last: 9 }],
    ['bytes=2-99', { first: 2, last: 9 }],
    ['bytes=-3', { first: 7, last: 9 }],
    ['bytes=-99', { first: 0, last: 9 }],
  ])('accepts %s of ten bytes', (header, range) => {
    expect(readRange(header, 10)).toEqual(range)
  })

  it.each([undefined, '', 'bytes=', 'bytes=-', 'bytes=3-2', 'bytes=0-1,3-4', 'lines=0-1'])(
    'treats %j as the entire object',
    (header) => {
      expect(readRange(header, 10)).toBeUndefined()
    },
  )

  it.each([
    ['bytes=10-', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
  ])('refuses %s of %i bytes', (header, size) => {
    expect(() => readRange(header, size)).toThrow('not satisfiable')
  })
})
