import type { Run } from './runs.ts'

/** The limits for the number of runs, and for the steps of all of them together. An endless run has 20,000 steps. */
const MAX_RUNS = 400
const MAX_STEPS = 200_000

/**
 * Reduces a failed run to a short one that fails the same way, by leaving out choices or making them the simplest.
 * `again` runs a list of choices, and returns the run if it fails the same invariant.
 */
export async function shrink(
  failed: Run,
  again: (choices: readonly number[]) => Promise<Run | undefined>,
): Promise<Run> {
  let best = failed
  let [runs, steps] = [0, 0]
  const isEnough = () => runs >= MAX_RUNS || steps >= MAX_STEPS
  const isBetter = async (choices: readonly number[]): Promise<boolean> => {
    if (isEnough()) return false
    const run = await again(choices)
    runs += 1
    steps += (run ?? best).steps
    if (!run || weightOf(run) >= weightOf(best)) return false
    best = run
    return true
  }
  for (let before = Infinity; weightOf(best) < before && !isEnough(); ) {
    before = weightOf(best)
    for (let length = best.choices.length >> 1; length >= 8; length >>= 1)
      while (await isBetter(best.choices.slice(0, best.choices.length - length)));
    for (const size of [64, 16, 4, 1]) await eachBlock(size, () => best.choices, isBetter)
  }
  return best
}

async function eachBlock(
  size: number,
  current: () => readonly number[],
  isBetter: (choices: readonly number[]) => Promise<boolean>,
): Promise<void> {
  for (let at = 0; at < current().length; at += size) {
    const choices = current()
    const [before, block, after] = [
      choices.slice(0, at),
      choices.slice(at, at + size),
      choices.slice(at + size),
    ]
    if (await isBetter([...before, ...after])) continue
    if (block.some((choice) => choice > 0)) await isBetter([...before, ...block.map(() => 0), ...after])
  }
}

/** Steps count most, since people read them; then every choice that is not the simplest. */
function weightOf({ steps, choices }: Run): number {
  return steps * 1000 + choices.filter((choice) => choice > 0).length
}
