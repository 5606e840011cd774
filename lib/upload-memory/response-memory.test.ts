import { describe, expect, it } from 'vitest'
import {
  bucketOf,
  LIMIT_BYTES,
  MiB,
  openFullBudget,
  replaceTimers,
} from '../../test/support/memory-budget.ts'

replaceTimers()

describe('memory for responses', () => {
  it('is available to each workspace when everything else is used up, within a limit', async () => {
    const budget = openFullBudget()
    await budget.account(bucketOf('workspace 0')).reserve(10 * MiB, new AbortController().signal)
    const takeAll = (workspaceId: string) => {
      const responses = budget.responses(workspaceId)
      let bytes = 0
      for (; responses.take(1024); bytes += 1024);
      return bytes
    }
    expect(takeAll('hostile')).toBe(MiB / 4)
    expect(takeAll('another')).toBe(MiB / 4)
    for (let n = 0; n < 10; n++) takeAll(`workspace ${n}`)
    expect(budget.usedBytes).toBeLessThanOrEqual(LIMIT_BYTES)
  })
})
