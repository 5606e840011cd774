import { expect, it } from 'vitest'
import { findMissing } from './entries.ts'

const at = { lastModified: 7 }
const missing = (path?: string) => ({
  upload: { id: path ?? '', name: 'a.txt', type: '', size: 3, state: 'missing' as const, sentBytes: 0, path },
  ...at,
})
const picked = (path = '') =>
  Object.defineProperty(new File(['abc'], 'a.txt', at), 'webkitRelativePath', { value: path })

it('distinguishes files with the same name, size and time by their folders', () => {
  const entries = [missing('one/a.txt'), missing('two/a.txt')]
  expect(findMissing(entries, picked('two/a.txt'))).toBe(entries[1])
  expect(findMissing(entries, picked('three/a.txt'))).toBeUndefined()
  expect(findMissing(entries, picked())).toBeUndefined()
})

it('recognizes a file picked without its folder, if only one matches', () => {
  const entry = missing('one/a.txt')
  expect(findMissing([entry], picked())).toBe(entry)
  expect(findMissing([missing()], picked('one/a.txt'))).toBeUndefined()
})

it('matches neither a file that has changed since it was added, nor an upload that still has its file', () => {
  expect(findMissing([missing()], new File(['abc'], 'a.txt', { lastModified: 8 }))).toBeUndefined()
  expect(findMissing([missing()], new File(['abcd'], 'a.txt', at))).toBeUndefined()
  const { upload } = missing()
  expect(findMissing([{ upload: { ...upload, state: 'paused' }, ...at }], picked())).toBeUndefined()
})
