import { afterEach, expect, it, vi } from 'vitest'
import { onTick } from './time.tsx'

afterEach(() => vi.useRealTimers())

it('all times on a page share one timer, which ends with the last of them', () => {
  vi.useFakeTimers()
  const [one, other] = [vi.fn(), vi.fn()]
  const ends = [onTick(one), onTick(other)]
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(2000)
  expect([one, other].map(({ mock }) => mock.calls.length)).toEqual([2, 2])
  for (const end of ends) end()
  expect(vi.getTimerCount()).toBe(0)
})
