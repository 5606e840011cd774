import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Finding } from './cases.ts'
import { drawChart } from './chart.ts'

export type Section = { name: string; findings: Finding[] }

/** docs/benchmarks.md and the chart that it shows. */
export function writeReport(sections: Section[]): void {
  const docs = new URL('../docs/', import.meta.url)
  const all = sections.flatMap(({ findings }) => findings)
  const panels = all.flatMap(({ what, bars }) => (bars ? [{ title: what, bars }] : []))
  writeFileSync(new URL('benchmarks.svg', docs), drawChart(panels))
  writeFileSync(new URL('benchmarks.md', docs), page(sections, all))
}

function page(sections: Section[], all: Finding[]): string {
  const missed = all.filter(({ holds }) => !holds)
  return [
    '# Benchmarks',
    '',
    '`npm run bench` runs them and writes this page; `npm run bench -- --only HEAD` prints those whose names hold the word.',
    'Everything runs on one machine: the clients, the server, PostgreSQL and a sink that speaks S3 and throws the bytes',
    'away. The bare pipe is a Node server that does `req.pipe()` to the sink. The peer is @tus/server with @tus/s3-store,',
    'in parts of 8 MiB. Contenders take turns, and a ratio is that of the medians of five rounds. Times by the clock',
    'depend on the machine and on what else it does; CPU times and ratios much less.',
    '',
    `The last run: ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}.`,
    `${all.length - missed.length} of ${all.length} goals were met${missed.length > 0 ? '; missed were:' : '.'}`,
    ...(missed.length > 0
      ? ['', ...missed.map(({ what, measured, wanted }) => `- ${what}: ${measured}; wanted ${wanted}`)]
      : []),
    '',
    '![Bars of Sluice, the bare pipe and the peer](benchmarks.svg)',
    ...sections.flatMap(section),
    '',
  ].join('\n')
}

const section = ({ name, findings }: Section) => [
  '',
  `## ${name[0]!.toUpperCase()}${name.slice(1)}`,
  '',
  '| What | Measured | Wanted | |',
  '|---|---|---|---|',
  ...findings.map(
    ({ what, measured, wanted, holds }) =>
      `| ${what} | ${measured} | ${wanted} | ${holds ? 'holds' : 'missed'} |`,
  ),
]
