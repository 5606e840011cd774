import { afterEach, beforeEach, vi } from 'vitest'
import { type MemoryAccount, MemoryBudget } from '#lib/upload-memory/memory-budget.ts'

export const MiB = 1024 * 1024
export const LIMIT_BYTES = 64 * MiB

/** A budget that is short of memory keeps looking for parts to spill, and must not do so after its test. */
export function replaceTimers(): void {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
}

export const openBudget = (clock = { now: () => 0 }) => new MemoryBudget(LIMIT_BYTES, { clock })
export const bucketOf = (workspaceId: string) => ({ workspaceId })

/** A budget whose workspaces have taken all memory for parts. */
export function openFullBudget(): MemoryBudget {
  const budget = openBudget()
  for (let n = 0; n < 40; n++) fill(budget.account(bucketOf(`workspace ${n}`)))
  return budget
}

/** Returns how many bytes the account took until it was full. */
export function fill(account: MemoryAccount): number {
  let bytes = 0
  for (; !account.full; bytes += 65_536) account.take(65_536)
  return bytes
}
