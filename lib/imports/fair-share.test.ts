import { describe, expect, it } from 'vitest'
import { type HeldPlace, placesToYield } from './fair-share.ts'

const held = (owner: string, count: number): HeldPlace[] =>
  Array.from({ length: count }, (_, n) => ({ claim: `${owner}${n}`, owner }))
const runs = (owner: string, running: number, waiting = 0) => ({ owner, running, waiting })
const waits = (owner: string, waiting: number, running = 0) => ({ owner, running, waiting })

describe('placesToYield', () => {
  it.each([
    ['nobody is waiting', held('a', 4), [runs('a', 4)], []],
    ['another owner is waiting with one import', held('a', 4), [runs('a', 4), waits('b', 1)], ['a3']],
    [
      'another owner is waiting with many imports (they get at most half of the places)',
      held('a', 4),
      [runs('a', 4), waits('b', 9)],
      ['a3', 'a2'],
    ],
    ['the waiting owner has only one place fewer', held('a', 3), [runs('a', 3), waits('b', 9, 2)], []],
    ['only the owner of the places is waiting', held('a', 4), [runs('a', 4, 9)], []],
    [
      'every owner has only one place',
      [...held('a', 1), ...held('b', 1)],
      [runs('a', 1), runs('b', 1), waits('c', 5)],
      [],
    ],
    [
      'one owner has more places than the other',
      [...held('a', 1), ...held('b', 3)],
      [runs('a', 1), runs('b', 3), waits('c', 5)],
      ['b2'],
    ],
    [
      'two owners are waiting',
      held('a', 6),
      [runs('a', 6), waits('b', 5), waits('c', 5)],
      ['a5', 'a4', 'a3', 'a2'],
    ],
    [
      "other nodes are fetching the owner's other imports",
      held('a', 1),
      [runs('a', 5), waits('b', 5)],
      ['a0'],
    ],
  ])('selects the imports to stop when %s', (_, places, shares, yielded) => {
    expect(placesToYield(places, shares)).toEqual(yielded)
  })
})
