const FIRST_MS = 10
const FACTOR = 1.5
export const STEPS = 50

/**
 * The step of a duration on a scale from 10 ms to a month, on which each step is half as long again as the one before. A
 * count for each step keeps durations in few numbers that can be added up; a median read from them is within a fifth.
 */
export function stepOf(ms: number): number {
  if (ms < FIRST_MS) return 0
  return Math.min(1 + Math.floor(Math.log(ms / FIRST_MS) / Math.log(FACTOR)), STEPS - 1)
}

/** Where a step begins. */
function beginOf(step: number): number {
  return step === 0 ? 0 : FIRST_MS * FACTOR ** (step - 1)
}

/** Half took longer, half took less; undefined if there are none. */
export function medianOf(counts: number[]): number | undefined {
  const all = counts.reduce((sum, count) => sum + count, 0)
  let left = all / 2
  for (const [step, count] of counts.entries()) {
    if (count > 0 && left <= count) return Math.round(between(beginOf(step), beginOf(step + 1), left / count))
    left -= count
  }
  return undefined
}

const between = (from: number, to: number, share: number) => from + (to - from) * share
