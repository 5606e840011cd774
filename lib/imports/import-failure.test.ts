import { expect, it } from 'vitest'
import { pauseAfterProgress } from './import-failure.ts'

it('pauses after an attempt that fetched little, or less than it read again', () => {
  const pause = (bytes: number, reread = 0, failed = {}) =>
    pauseAfterProgress({ bytes, reread }, { afterMs: 0, ...failed }, 0.5)
  expect([pause(65_536), pause(65_535)]).toEqual([0, 5000])
  expect([pause(100_000, 100_000), pause(100_000, 100_001)]).toEqual([0, 5000])
  expect(pause(100_000, 0, { isFault: true })).toBe(5000)
  expect(pause(100_000, 0, { afterMs: 30_000 })).toBe(30_000)
})
