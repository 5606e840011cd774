const MAX_STEPS = 4

/** Round numbers from 0 to at least `most`, in at most four steps. */
export function niceTicks(most: number, { whole = false } = {}): number[] {
  const rough = Math.max(most, whole ? 1 : Number.MIN_VALUE) / MAX_STEPS
  const power = 10 ** Math.floor(Math.log10(rough))
  const wanted = [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= rough)!
  const step = most <= 0 && !whole ? 1 : whole ? Math.max(Math.ceil(wanted), 1) : wanted
  const steps = Math.max(Math.ceil(most / step), 1)
  return Array.from({ length: steps + 1 }, (_, n) => n * step)
}
