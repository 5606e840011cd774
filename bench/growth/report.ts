import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Measured } from './measure.ts'

const PAGE = 'docs/growth.md'
/** Too long for git: whoever wants to read them runs it. */
const PLANS = 'test-results/growth-plans.txt'

/** A database of so many files, and what was measured on it. */
export type Grown = { files: number; bytes: number; measured: Measured[] }

/** The page with a row for each statement, and its plans at all sizes beside it. */
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

What is done all the time, on databases of ${names.join(', ')} files: every statement that uploads, tokens, webhooks, lists, the
Overview and the sweeps send, with the indexes that it goes along, its time in PostgreSQL in ms (the median of seven), and how many
rows of the tables that grow it looks at. \`npm run bench -- growth --files ${grown.map((one) => one.files).join()}\` makes the database and writes this page, and the plans into \`${PLANS}\`;
[a test](../bench/growth/growth.db.test.ts) makes a small one and fails where a statement goes through a table, sorts it, reads more of it as it grows, or
looks into months that it does not need.

One file in ten is an open upload, and one of those in ten has a tail. Each other file has an event, a delivery and an attempt, and each
a line in its timeline; one in ten has a token that is still there. Half of all belong to one workspace, the one that asks; the others to
a hundred. They have come in the 29 days before, so their events are in two months or three. Postgres has 2 GiB of shared buffers, and everything
else runs on the same machine.

With ${countOf(files)} files the database takes ${inGb(bytes)} GB: ${countOf(files * OPEN)} open uploads, ${countOf(files * ENDED)} events, and as many deliveries and attempts. A hundred million
would take ${inGb((bytes / files) * 100_000_000)} GB. Dropping the months of all those events, deliveries and attempts took ${Math.round(dropMs)} ms.

| | What | Goes along | ${names.map((name) => `ms at ${name}`).join(' | ')} | ${names.map((name) => `rows at ${name}`).join(' | ')} |
| --- | --- | --- | ${names.map(() => '---: | ---:').join(' | ')} |
${rows.join('\n')}
`
}

const [OPEN, ENDED] = [0.1, 0.9]
const inGb = (bytes: number) => Math.round(bytes / 1e9)

function plansOf(sizes: number[], statements: Statement[]): string {
  const sections = statements.map(({ number, last, bySize }) => {
    const plans = bySize.flatMap((one, at) => {
      if (!one) return []
      const head = `${countOf(sizes[at]!)} files, ${one.ms} ms`
      // Of the same shape it is drawn once, with the rows of the largest.
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
