import { expect, it } from 'vitest'
import {
  formatBytes,
  formatDuration,
  formatExact,
  formatPercent,
  formatRelative,
  formatUpTo,
  plural,
} from './format.ts'

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1 kB'],
  [1_234_567, '1.23 MB'],
  [12_345_678, '12.3 MB'],
  [999_999, '1 MB'],
  [10_000_000_000, '10 GB'],
])('formats %d bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

it.each([
  [0, 'just now'],
  [-12_000, '12 s ago'],
  [3 * 3_600_000, 'in 3 h'],
  [-3 * 86_400_000, '3 d ago'],
  [7 * 86_400_000 - 1, 'in 7 d'],
  [59_700, 'in 1 min'],
  [1 - 7 * 86_400_000, '6 d ago'],
  [-400 * 86_400_000, '17 Oct 2025'],
])('formats a time %d ms away as %s', (distance, text) => {
  const now = Date.UTC(2026, 10, 21)
  expect(formatRelative(now + distance, now)).toBe(text)
})

it('formats the exact time in UTC', () => {
  expect(formatExact(Date.UTC(2026, 10, 21, 8, 24, 11))).toBe('21 Nov 2026, 08:24:11 UTC')
})

it('never rounds up to 100% or down to 0%', () => {
  expect(formatPercent(999, 1000)).toBe('99%')
  expect(formatPercent(1, 1000)).toBe('<1%')
  expect(formatPercent(1, 0)).toBe('0%')
})

it('formats counts and durations', () => {
  expect([plural(1, 'file'), plural(1200, 'file')]).toEqual(['1 file', '1,200 files'])
  expect([formatDuration(90), formatDuration(2500), formatDuration(150_000)]).toEqual([
    '90 ms',
    '2.5 s',
    '2 min 30 s',
  ])
  expect([59_960, 299_700, 3_599_800, 7_170_000].map(formatDuration)).toEqual([
    '1 min 0 s',
    '5 min 0 s',
    '1 h 0 min',
    '2 h 0 min',
  ])
})

it('says that a count may be higher if counting stopped', () => {
  expect([0, 999, 1000].map((count) => formatUpTo(count, 1000))).toEqual(['0', '999', '1,000 or more'])
})
