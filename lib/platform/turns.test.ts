import { expect, it } from 'vitest'
import { createTurns } from './turns.ts'

function open({ most, waiting = 100, waitingForEach = 100 }: Record<string, number> & { most: number }) {
  const turns = createTurns({ most, waiting, waitingForEach })
  const ends = new Map<string, () => void>()
  const started: string[] = []
  const failed: string[] = []
  return {
    turns,
    started,
    failed,
    async ask(name: string, owner: string | undefined = name[0], signal?: AbortSignal) {
      turns.take(owner, signal).then(
        (end) => {
          started.push(name)
          ends.set(name, end)
        },
        () => failed.push(name),
      )
      await settled()
    },
    async end(name: string) {
      ends.get(name)!()
      await settled()
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

it('lets an owner run as much as it leaves free, so that others find room', async () => {
  const { ask, end, started } = open({ most: 6 })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) await ask(name)
  expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1'])
  for (const name of ['c1', 'b1', 'b2']) await end(name)
  expect(started).toHaveLength(6)
  await end('a1')
  expect(started.at(-1)).toBe('a4')
})

it('lets the owner with the least work running go next, then the one that has waited longest', async () => {
  const { ask, end, started } = open({ most: 1 })
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) await ask(name)
  for (const name of ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']) {
    expect(started.at(-1)).toBe(name)
    await end(name)
  }
})

it('never makes work wait that is done for everyone, and counts it', async () => {
  const { turns, ask, started } = open({ most: 1 })
  const ends = [await turns.take(undefined), await turns.take(undefined)]
  await ask('a1')
  expect(started).toEqual([])
  ends[0]!()
  ends[0]!()
  await ask('a2')
  expect(started).toEqual([])
  ends[1]!()
  await settled()
  expect(started).toEqual(['a1'])
})

it('forgets work whose signal is aborted while it waits', async () => {
  const { ask, end, started, failed } = open({ most: 1 })
  const leaving = new AbortController()
  await ask('a1')
  await ask('b1', 'b', leaving.signal)
  await ask('c1')
  leaving.abort()
  await end('a1')
  expect(started).toEqual(['a1', 'c1'])
  expect(failed).toEqual(['b1'])
})

it('bounds how much waits, and drops the newest of the owner with the most', async () => {
  const { ask, failed } = open({ most: 1, waiting: 3, waitingForEach: 3 })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) await ask(name)
  expect(failed).toEqual(['a5'])
  await ask('b1')
  expect(failed).toEqual(['a5', 'a4'])
})
