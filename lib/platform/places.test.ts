import { expect, it } from 'vitest'
import { createPlaces } from './places.ts'

function open({ most, mostForEach }: { most: number; mostForEach: number }) {
  const places = createPlaces({ most, mostForEach })
  const gaveUp: string[] = []
  const take = (owner: string, name = owner) => places.take(owner, () => gaveUp.push(name))
  return { take, gaveUp }
}

it('limits the places of each owner, and frees a place only once', () => {
  const { take } = open({ most: 3, mostForEach: 2 })
  const first = take('a')
  take('a')
  expect(take('a')).toEqual({ refused: 'own share used' })
  for (let n = 0; n < 2; n++) if ('leave' in first) first.leave()
  expect(take('a')).toHaveProperty('leave')
  expect(take('a')).toEqual({ refused: 'own share used' })
})

it('has places for a new owner after 25 others have taken all of them', () => {
  const { take, gaveUp } = open({ most: 500, mostForEach: 20 })
  for (let owner = 0; owner < 25; owner++) for (let n = 0; n < 20; n++) take(`stranger ${owner}`)
  for (let n = 0; n < 19; n++) expect(take('newcomer')).toHaveProperty('leave')
  expect(gaveUp).toHaveLength(19)
  expect(new Set(gaveUp).size).toBe(19)
})

it('takes the newest place from the owner with the most places, and does nothing when that place is left later', () => {
  const { take, gaveUp } = open({ most: 3, mostForEach: 3 })
  take('a', 'first')
  take('a', 'second')
  const newest = take('a', 'third')
  take('b')
  expect(gaveUp).toEqual(['third'])
  if ('leave' in newest) newest.leave()
  expect(take('b')).toEqual({ refused: 'all taken' })
})

it('does not take a place from an owner that has as many as the newcomer would have', () => {
  const { take, gaveUp } = open({ most: 2, mostForEach: 2 })
  take('a')
  take('b')
  expect(take('c')).toEqual({ refused: 'all taken' })
  expect(take('a')).toEqual({ refused: 'all taken' })
  expect(gaveUp).toEqual([])
})
