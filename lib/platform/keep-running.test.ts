import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { keepRunning, type Running } from './keep-running.ts'
import { createLogger } from './log/log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A program that counts its starts. The test can end its newest process. */
function program() {
  let end: (why: string) => void = () => {}
  const program = {
    starts: 0,
    failsToStart: false,
    end: (why: string) => end(why),
    async start(): Promise<Running> {
      program.starts += 1
      if (program.failsToStart) throw new Error('no memory')
      const ended = new Promise<string>((resolve) => {
        end = resolve
      })
      return { ended, stop: async () => end('stopped') }
    },
  }
  return program
}

const silent = createLogger('silent')

it('restarts a long-running program immediately, and one that ends soon after growing pauses', async () => {
  const given = program()
  const running = await keepRunning('It', given.start, silent)
  await vi.advanceTimersByTimeAsync(10_000)
  given.end('killed')
  await vi.advanceTimersByTimeAsync(0)
  expect(given.starts).toBe(2)
  for (const pauseMs of [100, 200, 400, 800, 1600, 3200, 5000, 5000]) {
    const { starts } = given
    given.end('killed')
    await vi.advanceTimersByTimeAsync(pauseMs - 1)
    expect(given.starts).toBe(starts)
    await vi.advanceTimersByTimeAsync(1)
    expect(given.starts).toBe(starts + 1)
  }
  await running.stop()
  expect(given.starts).toBe(10)
})

it('keeps trying to start a program until it is stopped', async () => {
  const given = program()
  const lines: string[] = []
  const log = createLogger('error', { write: (line) => void lines.push(JSON.parse(line).msg) })
  const running = await keepRunning('It', given.start, log)
  given.failsToStart = true
  given.end('killed')
  await vi.advanceTimersByTimeAsync(700)
  expect(given.starts).toBe(4)
  expect(lines).toEqual([
    'It ended unexpectedly and is being restarted',
    ...Array(3).fill('It failed to start'),
  ])
  const stopped = running.stop()
  await vi.advanceTimersByTimeAsync(0)
  await stopped
  await vi.advanceTimersByTimeAsync(60_000)
  expect(given.starts).toBe(4)
})

it('ends a program that starts while it is being stopped', async () => {
  const given = program()
  const coming = Promise.withResolvers<void>()
  const start = async () => {
    if (given.starts > 0) await coming.promise
    return given.start()
  }
  const running = await keepRunning('It', start, silent)
  given.end('killed')
  await vi.advanceTimersByTimeAsync(100)
  const stopped = running.stop()
  await vi.advanceTimersByTimeAsync(0)
  coming.resolve()
  await stopped
  expect(given.starts).toBe(2)
})

it('fails if the first start fails', async () => {
  const given = program()
  given.failsToStart = true
  await expect(keepRunning('It', given.start, silent)).rejects.toThrow('no memory')
})
