import { expect, it } from 'vitest'
import { isCut, MAX_ENTRIES } from './show-file.ts'

const entries = (kind: string, count: number) =>
  Array.from({ length: count }, () => ({ at: '2026-11-28T10:00:00.000Z', kind, detail: {} }))

it.each([
  ['some of each kind', [...entries('request', 499), ...entries('webhook_attempt', 499)], false],
  ['as many requests as are listed', entries('request', MAX_ENTRIES), true],
  ['as many webhook attempts as are listed', entries('webhook_attempt', MAX_ENTRIES), true],
])('a timeline with %s may lack entries: %s', (_, timeline, cut) => expect(isCut(timeline)).toBe(cut))
