import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Measured } from './measure.ts'

const PAGE = 'docs/growth.md'
/** The plans are too long for git: run the benchmark to read them. */
const PLANS = 'test-results/growth-plans.txt'

/** A database with this many files, and its measurements. */
export type Grown = { files: number; bytes: number; measured: Measured[] }

/** Writes the page with a row for each statement, and the plans at all sizes to a separate file. */
export function writeGrowth(grown: Grown[], dropMs: number): void {
  const measured = grown.map((of) => of.measured)
  const statements = measured.at(-1)!.map((last, at) => ({
    number: at + 1,
    last,
    bySize: measured.map((of) => of.find(({ path, text }) => path === last.path && text === last.text)),
  }))
  writeFileSync(PAGE, pageOf(grown, statements, dropMs))
  mkdirSync(dirname(PLANS), { recursive: true })
  writeFileSync(
    PLANS,
    plansOf(
      grown.map(({ files }) => files),
      statements,
    ),
  )
}

type Statement = { number: number; last: Measured; bySize: (Measured | undefined)[] }

function pageOf(grown: Grown[], statements: Statement[], dropMs: number): string {
  const names = grown.map(({ files }) => countOf(files))
  const { files, bytes } = grown.at(-1)!
  const rows = statements.map(({ number, last, bySize }) => {
    const of = (tell: (one: Measured) => string) => bySize.map((one) => (one ? tell(one) : '–')).join(' | ')
    const ways = last.ways.map((way) => `\`${way}\``).join(', ') || '–'
    return `| ${number} | ${last.path} | ${ways} | ${of(({ ms }) => ms.toFixed(2))} | ${of(({ read }) => String(read))} |`
  })
  return `# Growth

This page lists the statements that run frequently: those for uploads, tokens, webhooks, lists, the Overview and the sweeps.
They were measured on databases with ${LIST.format(names)} files. Each row shows the indexes that the
statement uses, its time in PostgreSQL in ms (the median of seven), and how many rows it reads from the growing tables.
\`npm run bench -- growth --files ${grown.map((one) => one.files).join()}\` creates the database and writes this page,
with the plans in \`${PLANS}\`; [a test](../bench/growth/growth.db.test.ts) creates a small
database, and fails if a statement scans or sorts an entire table, reads more rows as tables grow, or reads months that
it does not need.

One file in ten is an open upload, and one in ten of those has a tail. Each of the remaining files has an event, a
delivery and an attempt. Every file has one timeline line, and one file in ten still has its token. Half of all files
belong to the workspace that the statements query; the rest belong to a hundred others. They arrived over the previous
29 days, so their events span two or three months. PostgreSQL has 2 GiB of shared buffers, and runs on the same machine
as everything else.

With ${countOf(files)} files the database takes ${inGb(bytes)} GB: ${countOf(files * OPEN)} open uploads, ${countOf(files * ENDED)} events, and as many deliveries and attempts. A hundred million files
would take ${inGb((bytes / files) * 100_000_000)} GB. Dropping the months of all these events, deliveries and attempts took ${Math.round(dropMs)} ms.

| | Operation | Indexes | ${names.map((name) => `ms at ${name}`).join(' | ')} | ${names.map((name) => `rows at ${name}`).join(' | ')} |
| --- | --- | --- | ${names.map(() => '---: | ---:').join(' | ')} |
${rows.join('\n')}
`
}

/** Joins names as in “a, b and c”. */
const LIST = new Intl.ListFormat('en-GB')
const [OPEN, ENDED] = [0.1, 0.9]
const inGb = (bytes: number) => Math.round(bytes / 1e9)

function plansOf(sizes: number[], statements: Statement[]): string {
  const sections = statements.map(({ number, last, bySize }) => {
    const plans = bySize.flatMap((one, at) => {
      if (!one) return []
      const head = `${countOf(sizes[at]!)} files, ${one.ms} ms`
      // A plan with the same shape as the largest database's is not repeated.
      return one !== last && shapeOf(one) === shapeOf(last)
        ? [`${head}: as below`]
        : [`${head}:`, ...one.plan]
    })
    return [`${number}. ${last.path}`, last.text, ...plans].join('\n')
  })
  return `${sections.join('\n\n')}\n`
}

const shapeOf = ({ plan }: Measured) => plan.map((line) => line.replace(/: \d+ rows$/, '')).join('\n')

const countOf = (n: number) => (n >= 1_000_000 ? `${n / 1_000_000} million` : n.toLocaleString('en'))
