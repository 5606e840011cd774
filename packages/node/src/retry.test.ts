import { expect, it } from 'vitest'
import { retryDelayMs } from './retry.ts'

const most = () => 1
const least = () => 0

it('doubles the delay each time, up to eight seconds, and shortens it at random by at most half', () => {
  const delays = (random: () => number) =>
    [0, 1, 2, 3, 4, 9].map((attempt) => retryDelayMs(attempt, {}, random))
  expect(delays(most)).toEqual([500, 1000, 2000, 4000, 8000, 8000])
  expect(delays(least)).toEqual([250, 500, 1000, 2000, 4000, 4000])
})

it.each([500, 502, 503, 504, 408, 425, 429])('retries after %i', (status) => {
  expect(retryDelayMs(0, { status }, most)).toBe(500)
})

it.each([400, 401, 403, 404, 409, 413, 421])('does not retry after %i', (status) => {
  expect(retryDelayMs(0, { status, retryAfter: '1' })).toBeUndefined()
})

it('waits for the delay in Retry-After, up to a limit', () => {
  expect(retryDelayMs(0, { status: 429, retryAfter: '7' })).toBe(7000)
  expect(retryDelayMs(0, { status: 503, retryAfter: '30' })).toBe(30_000)
  expect(retryDelayMs(0, { status: 503, retryAfter: '31' })).toBeUndefined()
  expect(retryDelayMs(0, { status: 503, retryAfter: 'Sun, 22 Nov 2026 12:00:00 GMT' }, most)).toBe(500)
})
