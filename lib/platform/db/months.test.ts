import { expect, it } from 'vitest'
import { uuidv7 } from '../kernel/ids.ts'
import { idsOf, isOver, missingMonths, monthOf, nextMonth } from './months.ts'

const at = (text: string) => Date.parse(text)

it('uses calendar months in UTC', () => {
  expect(monthOf(at('2026-11-30T23:59:59.999Z'))).toBe('2026_11')
  expect(monthOf(at('2026-12-01T00:00:00Z'))).toBe('2026_12')
  expect(nextMonth('2026_12')).toBe('2027_01')
})

it('includes exactly the ids created in the month', () => {
  const [from, before] = idsOf('2026_02')
  const [first, last] = [uuidv7(at('2026-02-01T00:00:00Z')), uuidv7(at('2026-02-28T23:59:59.999Z'))]
  expect(first >= from && last < before).toBe(true)
  expect(uuidv7(at('2026-01-31T23:59:59.999Z')) < from).toBe(true)
  expect(uuidv7(at('2026-03-01T00:00:00Z')) >= before).toBe(true)
})

it('creates months up to the next one, including all that are missing since the last one', () => {
  const now = at('2026-12-31T23:00:00Z')
  expect(missingMonths(undefined, now)).toEqual(['2026_12', '2027_01'])
  expect(missingMonths('2026_10', now)).toEqual(['2026_11', '2026_12', '2027_01'])
  expect(missingMonths('2027_01', now)).toEqual([])
})

it('expires a month when its last moment is past the retention period', () => {
  const days30 = 30 * 86_400_000
  expect(isOver('2026_11', days30, at('2026-12-30T23:59:59Z'))).toBe(false)
  expect(isOver('2026_11', days30, at('2026-12-31T00:00:00Z'))).toBe(true)
})
