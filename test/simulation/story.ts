import type { Run } from './runs.ts'

/** A run for people: who did what, in order, without the timers in between. */
export function tell({ world, failure }: Run): string {
  const lines = world.trace.lines
    .filter(({ quiet }) => !quiet)
    .map(({ atMs, text }) => `${(atMs / 1000).toFixed(3).padStart(10)} s  ${text}`)
  return [...lines, `${' '.repeat(14)}${failure ?? 'nothing is wrong'}`].join('\n')
}
