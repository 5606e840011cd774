import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/**
 * Keeps docs/conformance.md and the tests in sync: each clause names an existing test, or says why it needs none, and
 * each test in e2e/conformance is in the table.
 */
const TABLE = 'docs/conformance.md'
const TESTS = 'e2e/conformance'

type Proof = { file: string; title: string }
type Clause = { line: number; text: string; proofs: Proof[] }

/**
 * Returns what is wrong with the table. Its rows are `| clause | MUST | [file](path): title<br>[file](path): title |`;
 * the last column may also be `none: reason`.
 */
export function conformanceFaults(markdown: string): string[] {
  const clauses = readClauses(markdown)
  const faults = clauses.flatMap(clauseFaults)
  const named = new Set(clauses.flatMap(({ proofs }) => proofs.map(({ file, title }) => `${file}: ${title}`)))
  for (const name of existsSync(TESTS) ? readdirSync(TESTS) : []) {
    const file = join(TESTS, name)
    for (const title of titlesIn(file)) {
      if (!named.has(`${file}: ${title}`)) faults.push(`no clause names the test "${title}" of ${file}`)
    }
  }
  return faults
}

function readClauses(markdown: string): Clause[] {
  return markdown.split('\n').flatMap((row, index) => {
    const cells = row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
    if (!/^(MUST|SHOULD|SHALL)( NOT)?$/.test(cells[2] ?? '')) return []
    return [{ line: index + 1, text: cells[3] ?? '', proofs: readProofs(cells[3] ?? '') }]
  })
}

function readProofs(cell: string): Proof[] {
  return cell.split('<br>').flatMap((part) => {
    const [, path, title] = part.trim().match(/^\[[^\]]+\]\(([^)]+)\): (.+)$/) ?? []
    return path && title ? [{ file: join(dirname(TABLE), path), title }] : []
  })
}

function clauseFaults({ line, text, proofs }: Clause): string[] {
  if (/^none: \S/.test(text)) return []
  if (proofs.length !== text.split('<br>').length)
    return [`line ${line}: name tests as "[file](path): title", or write "none: " and the reason`]
  return proofs
    .filter(({ file, title }) => !titlesIn(file).has(title))
    .map(({ file, title }) => `line ${line}: ${file} has no test "${title}"`)
}

const read = new Map<string, Set<string>>()

/** The titles of `it(…)` and `it.each(…)(…)` in a file. */
function titlesIn(file: string): Set<string> {
  const known = read.get(file)
  if (known) return known
  const titles = new Set<string>()
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && /^it\b/.test(node.expression.getText())) {
      const [title] = node.arguments
      if (title && ts.isStringLiteralLike(title)) titles.add(title.text)
    }
    ts.forEachChild(node, visit)
  }
  if (existsSync(file))
    visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true))
  read.set(file, titles)
  return titles
}

if (import.meta.main) {
  const faults = conformanceFaults(readFileSync(TABLE, 'utf8'))
  for (const fault of faults) console.log(fault)
  process.exit(faults.length === 0 ? 0 : 1)
}
