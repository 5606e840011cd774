import { expect, it } from 'vitest'
import {
  bucketOf,
  fill,
  LIMIT_BYTES,
  MiB,
  openBudget,
  replaceTimers,
} from '../../test/support/memory-budget.ts'

replaceTimers()

it('pauses readers while it is full, and resumes them in turn as memory becomes free', () => {
  const account = openBudget().account(bucketOf('a'))
  const called: string[] = []
  fill(account)
  account.whenFree(() => {
    called.push('first')
    account.take(MiB)
  })
  account.whenFree(() => {
    called.push('second')
  })
  account.give(1)
  expect(called).toEqual([])
  account.give(MiB)
  expect(called).toEqual(['first'])
  account.give(MiB)
  expect(called).toEqual(['first', 'second'])
})

it('leaves room for every workspace, however much the others take', () => {
  const budget = openBudget()
  for (let n = 1; n <= 6; n++) {
    expect(fill(budget.account(bucketOf(`workspace ${n}`)))).toBeGreaterThan(MiB)
    expect(budget.usedBytes).toBeLessThanOrEqual(LIMIT_BYTES)
  }
})

it('keeps a quarter for workspaces that hold less than one part', () => {
  const budget = openBudget()
  const fast = Array.from({ length: 12 }, (_, n) => budget.account(bucketOf(`workspace ${n}`)))
  for (const account of fast) account.take(8 * MiB - 65_536)
  // Together, they have taken more than is available, because each has started a part. None of them gets any of the
  // freed memory.
  for (const account of fast.slice(3)) account.give(8 * MiB - 65_536)
  for (const account of fast.slice(0, 3)) fill(account)
  const free = LIMIT_BYTES - budget.usedBytes
  expect(free).toBeGreaterThan(LIMIT_BYTES / 4)
  expect(fill(budget.account(bucketOf('another')))).toBeGreaterThanOrEqual(8 * MiB)
})

it('leaves room for a bucket while another bucket in its workspace hangs', () => {
  const budget = openBudget()
  fill(budget.account(bucketOf('a')))
  expect(fill(budget.account(bucketOf('a')))).toBeGreaterThan(MiB)
})

it('counts all buckets of a workspace together', () => {
  const budget = openBudget()
  for (let n = 0; n < 12; n++) fill(budget.account(bucketOf('a')))
  expect(budget.usedBytes).toBeLessThan(LIMIT_BYTES / 2)
  expect(fill(budget.account(bucketOf('b')))).toBeGreaterThanOrEqual(8 * MiB)
})
