import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { collectWhenIdle } from './collect-when-idle.ts'

const BUSY = 0.5
/** The load of one small request every few seconds. */
const LIGHT = 0.1
const IDLE = 0.01

let share = IDLE
let nowMs = 0
let collected = 0
let watch: ReturnType<typeof collectWhenIdle>
beforeEach(() => {
  vi.useFakeTimers()
  collected = 0
  nowMs = 0
  watch = collectWhenIdle({
    busyShare: () => share,
    now: () => nowMs,
    collect: () => {
      collected += 1
    },
  })
})
afterEach(() => {
  watch.stop()
  vi.useRealTimers()
})

function pass(seconds: number, busyShare: number): void {
  share = busyShare
  for (let n = 0; n < seconds; n += 5) {
    nowMs += 5000
    vi.advanceTimersByTime(5000)
  }
}

it('collects once after half a minute without work, and not again while the process stays idle', () => {
  pass(60, BUSY)
  pass(25, IDLE)
  expect(collected).toBe(0)
  pass(5, IDLE)
  expect(collected).toBe(1)
  pass(3600, IDLE)
  expect(collected).toBe(1)
})

it('does not collect in a process that has not done any work', () => {
  pass(3600, IDLE)
  expect(collected).toBe(0)
})

it('never collects under light but steady traffic', () => {
  pass(3600, LIGHT)
  for (let n = 0; n < 100; n++) {
    pass(25, IDLE)
    pass(5, LIGHT)
  }
  expect(collected).toBe(0)
})

it('collects at most every ten minutes, however often work comes and goes', () => {
  for (let minutes = 0; minutes < 60; minutes++) {
    pass(20, BUSY)
    pass(40, IDLE)
  }
  expect(collected).toBe(6)
})
