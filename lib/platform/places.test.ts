import { expect, it } from 'vitest'
import { createPlaces } from './places.ts'

it('gives one user so many places, and leaves the rest to others', () => {
  const places = createPlaces({ most: 3, mostForEach: 2 })
  const give = places.take('a')!
  expect(places.take('a')).toBeDefined()
  expect(places.take('a')).toBeUndefined()
  expect(places.take('b')).toBeDefined()
  expect(places.take('c')).toBeUndefined()
  give()
  give()
  expect(places.take('a')).toBeDefined()
  expect(places.take('c')).toBeUndefined()
})
