import { expect, it } from 'vitest'
import { typeOfName } from './type-of-name.ts'

it.each([
  ['clip.MP4', 'video/mp4'],
  ['archive.tar.gz', 'application/gzip'],
  ['notes', null],
  ['film.unknown', null],
])('derives from the name %s the type %s', (name, type) => expect(typeOfName(name)).toBe(type))
