import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Finding } from './cases.ts'
import { drawChart } from './chart.ts'

export type Section = { name: string; findings: Finding[] }

/** A page of figures. `name` is the name of its file in `folder`, without the extension. */
export type Page = { folder: URL; name: string; title: string; about: string[] }

/** The day and the commit of a measurement, which show how old a page of figures is. */
export function measuredNow(): { day: string; commit: string } {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  return { day: new Date().toISOString().slice(0, 10), commit }
}

/** Writes a page and its chart. */
export function writeReport(sections: Section[], about: Page): void {
  const { folder } = about
  mkdirSync(folder, { recursive: true })
  const all = sections.flatMap(({ findings }) => findings)
  const panels = all.flatMap(({ what, bars }) => (bars ? [{ title: what, bars }] : []))
  // The page is built before any file is written, since the commit would otherwise count as changed.
  const text = page(sections, all, about)
  writeFileSync(new URL(`${about.name}.svg`, folder), drawChart(panels))
  writeFileSync(new URL(`${about.name}.md`, folder), text)
}

function page(sections: Section[], all: Finding[], { name, title, about }: Page): string {
  const missed = all.filter(({ holds }) => !holds)
  const { day, commit } = measuredNow()
  return [
    `# ${title}`,
    '',
    ...about,
    '',
    `The last run, on ${day} at commit ${commit}: ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}.`,
    `${all.length - missed.length} of ${all.length} goals were met.${missed.length > 0 ? ' These were missed:' : ''}`,
    ...(missed.length > 0 ? ['', ...missed.flatMap(inDetail)] : []),
    '',
    `![Bar charts of Sluice and the other servers](${name}.svg)`,
    ...sections.flatMap(section),
    '',
  ].join('\n')
}

const inDetail = ({ what, measured, wanted, profile = [] }: Finding) => [
  `- ${what}: ${measured}; goal: ${wanted}`,
  ...profile.map((line) => `  - ${line}`),
]

const section = ({ name, findings }: Section) => [
  '',
  `## ${name[0]!.toUpperCase()}${name.slice(1)}`,
  '',
  '| Figure | Measured | Goal | |',
  '|---|---|---|---|',
  ...findings.map(
    ({ what, measured, wanted, holds }) =>
      `| ${what} | ${measured} | ${wanted} | ${holds ? 'met' : 'missed'} |`,
  ),
]
