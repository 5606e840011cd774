import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { minutes } from './kernel/clock.ts'
import { createLogger } from './log/log.ts'
import { startSweeps } from './sweeps.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('continues immediately after a full batch, and waits after a partial or failed batch', async () => {
  const found: (number | Error)[] = [100, 100, 99, new Error('no database'), 100, 0]
  let runs = 0
  const run = async () => {
    const next = found[runs++] ?? 0
    if (next instanceof Error) throw next
    return next
  }
  const sweep = { name: 'It', everyMs: minutes(1), batch: 100, run }
  const sweeps = startSweeps([sweep], createLogger('silent'))
  const runsAfter = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms)
    return runs
  }
  expect(await runsAfter(100)).toBe(3)
  expect(await runsAfter(minutes(1) - 200)).toBe(3)
  expect(await runsAfter(200)).toBe(4)
  expect(await runsAfter(minutes(1))).toBe(6)
  expect(await runsAfter(minutes(1) - 200)).toBe(6)
  await sweeps.stop()
})
