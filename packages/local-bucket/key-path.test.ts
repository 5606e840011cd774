import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeName, keyToPath } from './key-path.ts'

function pathToKey(path: string): string {
  const names = path.split('/').map(decodeName)
  return names
    .map(({ text, continues }, n) => text + (continues || n === names.length - 1 ? '' : '/'))
    .join('')
}

describe('keys as paths', () => {
  it.each([
    ['a/b/photo.jpg', 'a/b/photo.jpg'],
    ['Größe 100%.pdf', 'Größe 100%.pdf'],
    ['/absolute', '%/absolute'],
    ['a//b', 'a/%/b'],
    ['folder/', 'folder/%'],
    ['../../etc/passwd', '%2E%2E/%2E%2E/etc/passwd'],
    ['a/./b', 'a/%2E/b'],
    ['...', '...'],
    ['nul\0 and\nline', 'nul%00 and%0Aline'],
    ['%', '%25'],
    ['%2E%2E', '%252E%252E'],
    ['ends in %+', 'ends in %25+'],
  ])('%j becomes %j', (key, path) => {
    expect(keyToPath(key)).toBe(path)
    expect(pathToKey(path)).toBe(key)
  })

  it('split a segment that is too long for one file name', () => {
    const key = `a/${'€'.repeat(300)}/b`
    const names = keyToPath(key).split('/')
    expect(names).toHaveLength(6)
    for (const name of names) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    expect(pathToKey(keyToPath(key))).toBe(key)
  })

  it.each(['..', '.', '%'])('contain no bare %j at the end of a split segment', (end) => {
    const key = 'a'.repeat(2 * 253) + end
    expect(pathToKey(keyToPath(key))).toBe(key)
    expect(keyToPath(key).split('/').at(-1)).toMatch(/^%/)
  })

  it('can be converted back to keys, and never lead out of the folder', () => {
    const character = fc.nat({ max: 0xd7ff }).map((code) => String.fromCodePoint(code))
    const awkward = fc.constantFrom('/', '.', '..', '%', '%2E', '%+', '+', '\0', 'é', '€'.repeat(90), 'a')
    const key = fc
      .array(fc.oneof(awkward, fc.string({ unit: character })), { minLength: 1, maxLength: 12 })
      .map((bits) => bits.join(''))
    fc.assert(
      fc.property(key, (text) => {
        const path = keyToPath(text)
        expect(pathToKey(path)).toBe(text)
        const bad = path.split('/').filter((name) => {
          return ['', '.', '..'].includes(name) || name.includes('\0') || Buffer.byteLength(name) > 255
        })
        expect(bad).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  it('are different for different keys', () => {
    const key = fc
      .array(fc.constantFrom('/', '.', '%', '%25', '2E', '+', 'a'), { maxLength: 5 })
      .map((bits) => bits.join(''))
    fc.assert(
      fc.property(key, key, (a, b) => a === b || keyToPath(a) !== keyToPath(b)),
      { numRuns: 1000 },
    )
  })
})
