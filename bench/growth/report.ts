import { writeFileSync } from 'node:fs'
import type { Measured } from './measure.ts'

const PAGE = 'docs/growth.md'

/** A database with this many files, and its measurements. */
export type Grown = { files: number; bytes: number; measured: Measured[] }

/** Writes the page, with a row for each operation that takes or reads more than a little: the sums of its statements. */
export function writeGrowth(grown: Grown[], dropMs: number): void {
  const paths = [...new Set(grown.at(-1)!.measured.map(({ path }) => path))]
  const all = paths.map((path) => {
    const bySize = grown.map(({ measured }) => measured.filter((one) => one.path === path))
    const sums = (of: (one: Measured) => number) =>
      bySize.map((statements) => statements.reduce((sum, one) => sum + of(one), 0))
    return { path, count: bySize.at(-1)!.length, ms: sums(({ ms }) => ms), read: sums(({ read }) => read) }
  })
  const notable = all.filter(({ ms, read }) => Math.max(...ms) >= 2 || Math.max(...read) >= 1000)
  const rows = notable.map(({ path, count, ms, read }) => [
    path,
    count,
    ...ms.map((sum) => sum.toFixed(1)),
    ...read,
  ])
  writeFileSync(PAGE, pageOf(grown, rows, all.length - notable.length, dropMs))
}

function pageOf(grown: Grown[], rows: (string | number)[][], others: number, dropMs: number): string {
  const names = grown.map(({ files }) => countOf(files))
  const { files, bytes } = grown.at(-1)!
  return `# Growth

This page lists frequent operations: uploads, tokens, webhooks, lists, the Overview and the sweeps, measured on databases
with ${LIST.format(names)} files. Each row shows how many statements the operation has, their time in PostgreSQL in ms (sums
of medians of seven), and how many rows they read from the growing tables.
\`npm run bench -- growth --files ${grown.map((one) => one.files).join()}\` creates the database and writes this page; [a test](../bench/growth/growth.db.test.ts) creates a small
database, and fails if a statement scans or sorts an entire table, reads more rows as tables grow, or reads months that
it does not need.

One file in ten is an open upload, and one in ten of those has a tail. Each of the remaining files has an event, a
delivery and an attempt. Every file has one timeline line, and one file in ten still has its token. Half of all files
belong to the workspace that the statements query; the rest belong to a hundred others. They arrived over the previous
29 days, so their events span two or three months. PostgreSQL has 2 GiB of shared buffers, and runs on the same machine
as everything else.

With ${countOf(files)} files the database takes ${inGb(bytes)} GB: ${countOf(files * OPEN)} open uploads, ${countOf(files * ENDED)} events, and as many deliveries and attempts. A hundred million files
would take ${inGb((bytes / files) * 100_000_000)} GB. Dropping the months of all these events, deliveries and attempts took ${Math.round(dropMs)} ms.
Another ${others} operations took less than 2 ms and read fewer than 1,000 rows at each size.

| Operation | Statements | ${names.map((name) => `ms at ${name}`).join(' | ')} | ${names.map((name) => `rows at ${name}`).join(' | ')} |
| --- | ---: | ${names.map(() => '---: | ---:').join(' | ')} |
${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}
`
}

/** Joins names as in “a, b and c”. */
const LIST = new Intl.ListFormat('en-GB')
const [OPEN, ENDED] = [0.1, 0.9]
const inGb = (bytes: number) => Math.round(bytes / 1e9)
const countOf = (n: number) => (n >= 1_000_000 ? `${n / 1_000_000} million` : n.toLocaleString('en'))
