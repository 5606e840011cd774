import { expect, it } from 'vitest'
import { createRecorder } from './record.ts'

function recording(fault: (made: number[], call: number) => boolean) {
  const calls: number[][] = []
  const waits: number[] = []
  const record = createRecorder<number>(
    async (made) => {
      calls.push(made)
      if (fault(made, calls.length)) throw new Error('no')
    },
    async (ms) => void waits.push(ms),
  )
  return { record, calls, waits }
}

it('records simultaneous attempts together', async () => {
  const { record, calls } = recording(() => false)
  await Promise.all([1, 2, 3, 4].map(record))
  expect(calls).toEqual([[1, 2, 3, 4]])
})

it('records the other attempts if one cannot be recorded', async () => {
  const { record, calls } = recording((made) => made.includes(3))
  const ends = await Promise.allSettled([1, 2, 3, 4].map(record))
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(calls.filter((made) => made.length === 1 && made[0] !== 1)).toContainEqual([4])
})

it('retries while the database is down', async () => {
  const { record, calls, waits } = recording((_, call) => call <= 3)
  await record(1)
  expect(calls).toHaveLength(4)
  expect(waits).toEqual([250, 1000, 4000])
})

it('gives up before the claim expires', async () => {
  const { record, waits } = recording(() => true)
  await expect(record(1)).rejects.toThrow('no')
  expect(waits.reduce((sum, ms) => sum + ms)).toBeLessThan(15_000)
})
