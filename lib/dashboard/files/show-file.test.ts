import { expect, it } from 'vitest'
import { isCut, MAX_ENTRIES } from './show-file.ts'

const entries = (kind: string, count: number) =>
  Array.from({ length: count }, () => ({ at: '2026-11-28T10:00:00.000Z', kind, detail: {} }))

it.each([
  ['some of each kind', false, [...entries('request', 499), ...entries('webhook_attempt', 499)]],
  ['as many requests as are listed', true, entries('request', MAX_ENTRIES)],
  ['as many webhook attempts as are listed', true, entries('webhook_attempt', MAX_ENTRIES)],
])('a timeline with %s may lack entries: %s', (_, cut, timeline) => expect(isCut(timeline)).toBe(cut))
