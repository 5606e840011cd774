import { expect, it } from 'vitest'
import { dayRange } from './filters.ts'

it('includes both days in full', () => {
  expect(dayRange({ from: '2026-02-27', to: '2026-02-28' })).toEqual({
    since: '2026-02-27T00:00:00Z',
    until: '2026-03-01T00:00:00.000Z',
  })
  expect(dayRange({})).toEqual({})
  expect(dayRange({ to: '2026-02-99' })).toEqual({ until: '2026-02-99' })
  expect(dayRange({ from: 'yesterday' })).toEqual({ since: 'yesterday' })
})
