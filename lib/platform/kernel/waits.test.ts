import { expect, it, vi } from 'vitest'
import { atMost } from './waits.ts'

it('runs a limited number of tasks at once and the others in order, even if earlier tasks fail', async () => {
  const turn = atMost(2, 60_000)
  const begun: number[] = []
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<number>())
  const results = ends.map(({ promise }, n) =>
    turn(() => {
      begun.push(n)
      return promise
    }),
  )
  expect(begun).toEqual([0, 1])
  ends[1]!.reject(new Error('no'))
  await expect(results[1]).rejects.toThrow('no')
  expect(begun).toEqual([0, 1, 2])
  ends[2]!.resolve(2)
  await results[2]
  ends[0]!.resolve(0)
  ends[3]!.resolve(3)
  expect(await Promise.all([results[0], results[2], results[3]])).toEqual([0, 2, 3])
  const again = [turn(async () => 4), turn(async () => 5), turn(async () => 6)]
  expect(await Promise.all(again)).toEqual([4, 5, 6])
})

it('frees the slot of a task that throws before it returns a promise', async () => {
  const turn = atMost(1, 60_000)
  const thrown = turn(() => {
    throw new Error('no')
  })
  await expect(thrown).rejects.toThrow('no')
  expect(await turn(async () => 'next')).toBe('next')
})

it('frees the slot of a task that never ends', async () => {
  vi.useFakeTimers()
  const turn = atMost(1, 2000)
  void turn(() => new Promise(() => {}))
  const next = turn(async () => 'next')
  await vi.advanceTimersByTimeAsync(2000)
  expect(await next).toBe('next')
  vi.useRealTimers()
})
