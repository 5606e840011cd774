import { describe, expect, it } from 'vitest'
import { bucketOf, fill, MiB, openBudget, replaceTimers } from '../../test/support/memory-budget.ts'

replaceTimers()

describe('a share that an operator sets', () => {
  it("applies immediately to a workspace's open uploads, and takes nothing from the others", () => {
    const budget = openBudget()
    const [mine, theirs] = [budget.account(bucketOf('a')), budget.account(bucketOf('b'))]
    mine.take(12 * MiB)
    expect(mine.full).toBe(false)
    budget.limitWorkspaces(new Map([['a', 20]]))
    expect(mine.full).toBe(true)
    expect(theirs.full).toBe(false)
    // The workspace keeps its memory, and continues once enough of its bytes are durable.
    expect(budget.usedBytes).toBe(12 * MiB)
    mine.give(6 * MiB)
    expect(mine.full).toBe(false)
    expect(fill(theirs)).toBeGreaterThan(16 * MiB)
  })

  it('applies to all buckets of a workspace together, and to later uploads', () => {
    const budget = openBudget()
    budget.limitWorkspaces(new Map([['a', 20]]))
    fill(budget.account(bucketOf('a')))
    expect(budget.usedBytes).toBeLessThan(11 * MiB)
    expect(budget.account(bucketOf('a')).full).toBe(true)
  })

  it('is always at least one part, so that uploads make progress', () => {
    const budget = openBudget()
    budget.limitWorkspaces(new Map([['a', 1]]))
    expect(fill(budget.account(bucketOf('a')))).toBe(8 * MiB)
  })

  it('wakes waiting requests when it is raised or removed', () => {
    const budget = openBudget()
    budget.limitWorkspaces(new Map([['a', 1]]))
    const account = budget.account(bucketOf('a'))
    fill(account)
    const woken: string[] = []
    account.whenFree(() => woken.push('a'))
    expect(woken).toEqual([])
    budget.limitWorkspaces(new Map())
    expect(woken).toEqual(['a'])
  })
})
