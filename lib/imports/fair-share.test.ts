import { describe, expect, it } from 'vitest'
import { type HeldPlace, placesToYield } from './fair-share.ts'

const held = (workspaceId: string, count: number, running = count): HeldPlace[] =>
  Array.from({ length: count }, (_, n) => ({ claim: `${workspaceId}${n}`, workspaceId, running }))
const waits = (workspaceId: string, waiting: number, running = 0) => ({ workspaceId, waiting, running })

describe('placesToYield', () => {
  it.each([
    ['no workspace is waiting', held('a', 4), [], []],
    ['another workspace is waiting with one import', held('a', 4), [waits('b', 1)], ['a3']],
    [
      'another workspace is waiting with many imports (it gets at most half of the places)',
      held('a', 4),
      [waits('b', 9)],
      ['a3', 'a2'],
    ],
    ['the waiting workspace has only one place fewer', held('a', 3), [waits('b', 9, 2)], []],
    ['every workspace has only one place', [...held('a', 1), ...held('b', 1)], [waits('c', 5)], []],
    [
      'one workspace has more places than the other',
      [...held('a', 1), ...held('b', 3)],
      [waits('c', 5)],
      ['b2'],
    ],
    ['two workspaces are waiting', held('a', 6), [waits('b', 5), waits('c', 5)], ['a5', 'a4', 'a3', 'a2']],
    ["other nodes are fetching the workspace's other imports", held('a', 1, 5), [waits('b', 5)], ['a0']],
  ])('selects the imports to stop when %s', (_, places, waiting, yielded) => {
    expect(placesToYield(places, waiting)).toEqual(yielded)
  })
})
