import type { Run } from './explore.ts'

/** A run for people: who did what, in order, without the timers in between. */
export function tell({ world, failure }: Run): string {
  const lines = world.trace.lines
    .filter(({ quiet }) => !quiet)
    .map(({ atMs, text }) => `${(atMs / 1000).toFixed(3).padStart(10)} s  ${spoken(text)}`)
  return [...lines, `${' '.repeat(14)}${failure ?? 'nothing is wrong'}`].join('\n')
}

/** `A1: takeLease` is what function of the core the node is in. */
function spoken(text: string): string {
  return text
    .replace(/^([A-C]\d+)\b/, 'node $1')
    .replace(/\b[a-z]+(?:[A-Z][a-z]+)+\b/g, (name) =>
      name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
    )
}
