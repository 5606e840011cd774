import type { Run } from './runs.ts'

/** How many lines at the beginning and at the end of a long run are printed. */
const LINES = 300

/** Describes a run for readers: who did what, in order, without the timers in between. */
export function tell({ world, failure }: Run): string {
  const lines = world.trace.lines
    .filter(({ quiet }) => !quiet)
    .map(({ atMs, text }) => `${(atMs / 1000).toFixed(3).padStart(10)} s  ${text}`)
  const omitted = lines.length - 2 * LINES
  if (omitted > 0) lines.splice(LINES, omitted, `${' '.repeat(14)}… ${omitted} lines omitted …`)
  return [...lines, `${' '.repeat(14)}${failure ?? 'nothing is wrong'}`].join('\n')
}
