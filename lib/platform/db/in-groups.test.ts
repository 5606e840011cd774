import { afterEach, expect, it, vi } from 'vitest'
import { inGroups } from './in-groups.ts'

afterEach(() => void vi.useRealTimers())

/** Doubles numbers; each group ends when the test says so. */
function doubling(most = 10, gatherMs = 0) {
  const groups: number[][] = []
  const ends: ((error?: Error) => void)[] = []
  const double = inGroups<number, number>(
    (items) => {
      groups.push(items)
      const { promise, resolve, reject } = Promise.withResolvers<number[]>()
      ends.push((error) => (error ? reject(error) : resolve(items.map((n) => n * 2))))
      return promise
    },
    { most, gatherMs, keyOf: (n) => (n < 0 ? 'negative' : 'positive') },
  )
  return { groups, ends, double }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('groups requests that arrive in one turn of the event loop or while a group is running, up to a limit', async () => {
  const { groups, ends, double } = doubling(2)
  const first = [1, 2].map(double)
  await turn()
  expect(groups).toEqual([[1, 2]])
  const all = Promise.all([...first, ...[3, 4, 5].map(double)])
  for (const end of [0, 1, 2]) {
    await turn()
    ends[end]!()
  }
  expect(await all).toEqual([2, 4, 6, 8, 10])
  expect(groups).toEqual([[1, 2], [3, 4], [5]])
})

it('gathers writes for a while, but only after a large group with the same key', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const { groups, ends, double } = doubling(10, 1)
  const run = async (numbers: number[], waitMs = 0) => {
    for (const n of numbers) void double(n)
    await turn()
    if (waitMs > 0) await vi.advanceTimersByTimeAsync(waitMs)
    ends.at(-1)?.()
    await turn()
    return groups.at(-1)
  }
  expect(await run([1, 2])).toEqual([1, 2])
  expect(await run([3, 4, 5])).toEqual([3, 4, 5])
  expect(await run([-1])).toEqual([-1])
  for (const n of [6, 7]) {
    void double(n)
    await turn()
  }
  expect(groups.at(-1)).toEqual([-1])
  expect(await run([8], 1)).toEqual([6, 7, 8])
  void double(9)
  await turn()
  expect(groups.at(-1)).toEqual([6, 7, 8])
  expect(await run([], 1)).toEqual([9])
  expect(await run([10])).toEqual([10])
})

it('does not wait if the large group was a while ago', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const { groups, ends, double } = doubling(10, 1)
  for (const n of [1, 2, 3]) void double(n)
  await turn()
  ends[0]!()
  await turn()
  await vi.advanceTimersByTimeAsync(1000)
  void double(4)
  await turn()
  expect(groups).toEqual([[1, 2, 3], [4]])
})

it('keeps requests with different keys apart', async () => {
  const { groups, ends, double } = doubling()
  const all = Promise.all([1, -1].map(double))
  await turn()
  expect(groups).toEqual([[1], [-1]])
  for (const end of ends) end()
  expect(await all).toEqual([2, -2])
})

it('does not make requests wait for a hanging group', async () => {
  vi.useFakeTimers()
  const { groups, ends, double } = doubling()
  const first = double(1)
  await vi.advanceTimersByTimeAsync(1)
  const second = double(2)
  await vi.advanceTimersByTimeAsync(2000)
  vi.useRealTimers()
  expect(groups).toEqual([[1], [2]])
  ends[1]!()
  expect(await second).toBe(4)
  ends[0]!()
  expect(await first).toBe(2)
})

it('runs each request separately if their group fails, and fails all of them if the database is down', async () => {
  const refused = new Error('refused')
  const { groups, ends, double } = doubling()
  const all = Promise.allSettled([1, 2, 3].map(double))
  await turn()
  ends[0]!(new Error('one of them is bad'))
  await turn()
  ends[1]!()
  await turn()
  ends[2]!(refused)
  await turn()
  ends[3]!()
  expect(groups).toEqual([[1, 2, 3], [1], [2], [3]])
  expect(await all).toMatchObject([{ value: 2 }, { reason: refused }, { value: 6 }])

  const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
  const both = Promise.allSettled([1, 2].map(double))
  await turn()
  ends[4]!(away)
  expect(await both).toMatchObject([{ reason: away }, { reason: away }])
})
