import { writeFileSync } from 'node:fs'
import type { Measured } from './measure.ts'

const PAGE = 'docs/growth.md'
const PLANS = 'docs/growth-plans.txt'

/** The page with a row for each statement, and its plans at all sizes beside it. */
export function writeGrowth(sizes: number[], measured: Measured[][]): void {
  const statements = measured.at(-1)!.map((last, at) => ({
    number: at + 1,
    last,
    bySize: measured.map((of) => of.find(({ path, text }) => path === last.path && text === last.text)),
  }))
  writeFileSync(PAGE, pageOf(sizes, statements))
  writeFileSync(PLANS, plansOf(sizes, statements))
}

type Statement = { number: number; last: Measured; bySize: (Measured | undefined)[] }

function pageOf(sizes: number[], statements: Statement[]): string {
  const names = sizes.map(countOf)
  const rows = statements.map(({ number, last, bySize }) => {
    const of = (tell: (one: Measured) => string) => bySize.map((one) => (one ? tell(one) : '–')).join(' | ')
    const ways = last.ways.map((way) => `\`${way}\``).join(', ') || '–'
    return `| ${number} | ${last.path} | ${ways} | ${of(({ ms }) => ms.toFixed(2))} | ${of(({ read }) => String(read))} |`
  })
  return `# Growth

What is done all the time, on databases of ${names.join(', ')} files: every statement that uploads, tokens, webhooks, lists, the
Overview and the sweeps send, with the indexes that it goes along, its time in PostgreSQL in ms (the median of seven), and how many
rows of the tables that grow it looks at. \`npm run growth\` makes the database and writes this page, and [the plans](growth-plans.txt);
[a test](../bench/growth/growth.db.test.ts) makes a small one and fails where a statement goes through a table, or reads more of it as it grows.

One file in ten is an open upload, and one of those in ten has a tail. Each other file has an event, a delivery and an attempt. Half of
all belong to one workspace, the one that asks; the others to a hundred. Postgres has 2 GiB of shared buffers, and everything
else runs on the same machine.

| | What | Goes along | ${names.map((name) => `ms at ${name}`).join(' | ')} | ${names.map((name) => `rows at ${name}`).join(' | ')} |
| --- | --- | --- | ${sizes.map(() => '---: | ---:').join(' | ')} |
${rows.join('\n')}
`
}

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
