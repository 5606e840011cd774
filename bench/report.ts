import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** A goal, the measurement, and whether the goal was met; and the contenders' values, to compare them. */
export type Finding = { what: string; measured: string; wanted: string; holds: boolean; values?: Value[] }
export type Value = { name: string; value: number; unit: string }
export type Section = { name: string; findings: Finding[] }

export type Page = { file: URL; title: string; about: string[] }

/** The day and the commit of a measurement, which show how old a page of figures is. */
export function measuredNow(): { day: string; commit: string } {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  return { day: new Date().toISOString().slice(0, 10), commit }
}

export function writeReport(sections: Section[], about: Page): void {
  const all = sections.flatMap(({ name, findings }) =>
    findings.map((finding) => ({ ...finding, what: `${name}, ${finding.what}` })),
  )
  writeFileSync(about.file, page(sections, all, about))
}

function page(sections: Section[], all: Finding[], { title, about }: Page): string {
  const missed = all.filter(({ holds }) => !holds)
  const { day, commit } = measuredNow()
  return [
    `# ${title}`,
    '',
    ...about,
    '',
    `The last run, on ${day} at commit ${commit}: ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}.`,
    `${all.length - missed.length} of ${all.length} goals were met.${missed.length > 0 ? ' These were missed:' : ''}`,
    ...(missed.length > 0 ? ['', ...missed.map(({ what, wanted }) => `- ${what}; goal: ${wanted}`)] : []),
    ...sections.flatMap(section),
    '',
  ].join('\n')
}

const section = ({ name, findings }: Section) => [
  '',
  `## ${name[0]!.toUpperCase()}${name.slice(1)}`,
  '',
  '| Figure | Measured |',
  '|---|---|',
  ...findings.map(({ what, measured }) => `| ${what} | ${measured} |`),
]
