import { readFileSync } from 'node:fs'
import type { Measured } from './measure.ts'
import type { Simulated } from './simulate.ts'

/** The benchmarks' measurements, parsed from their output. Seconds are CPU seconds of one processor. */
export type Figures = ReturnType<typeof readFigures>

export const DOCS = new URL('../../docs/', import.meta.url)

export function readFigures() {
  const tusd = pageOf('beside-tusd.md')
  const overTls = tusd.slice(tusd.indexOf('## TLS to the bucket'))
  const operations = pageOf('operations.md')
  const ours = /Sluice ([\d.]+) \+ (?:PostgreSQL )?([\d.]+)/
  const cpu = (row: string) => {
    const [upload, database] = numbersIn(overTls, row, ours)
    return { upload: upload!, database: database! }
  }
  const connections =
    /With `PROCESSES`, each node uses up to (\d+), or (\d+) per process if that is more, and another (\d+) per process/
  const [together, each, beside] = numbersIn(operations, 'Connections to PostgreSQL', connections)
  return {
    bytes: cpu('8 files of 64 MiB at once'),
    mibPerSecond: numberIn(overTls, '8 files of 64 MiB at once', /Sluice ([\d.]+) MiB/),
    small: cpu('files of 4 KiB in one POST'),
    requestsOfEight: numberIn(
      tusd,
      'S3 requests for eight files of 64 MiB, one PATCH of 64 MiB',
      /Sluice ([\d.]+)/,
    ),
    crowdMiB: numberIn(tusd, '| 1,000 clients at 10 kB/s: resident memory', /Sluice ([\d.]+) MiB/),
    measured: JSON.parse(pageOf('capacity-measured.json')) as Measured,
    connections: { together: together!, each: each!, beside: beside! },
    simulated: JSON.parse(pageOf('capacity-simulated.json')) as Simulated,
  }
}

function pageOf(name: string): string {
  return readFileSync(new URL(name, DOCS), 'utf8')
}

/** Returns the first number in the first table row or list item that contains these words and matches the pattern. */
function numberIn(page: string, words: string, pattern: RegExp): number {
  return numbersIn(page, words, pattern)[0]!
}

function numbersIn(page: string, words: string, pattern: RegExp): number[] {
  const found = page
    .split('\n')
    .filter((line) => line.includes(words))
    .flatMap((line) => [line, ...line.split('|').map((cell) => cell.trim())])
    .map((text) => text.match(pattern))
    .find((match) => match !== null)
  if (!found) throw new Error(`No page has a line with "${words}" that matches ${pattern}.`)
  return found
    .slice(1)
    .filter((text) => text !== undefined)
    .map(Number)
}
