import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** No function of the core has more lines than this, its head, its comments and the functions in it included. */
const MAX_LINES = 50
const CORE = 'lib/{uploads,webhooks,protocols}/**/*.ts'

/** The functions that are longer, as `line: name has n lines`. */
export function longFunctions(source: string, maxLines = MAX_LINES): string[] {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true)
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const from = lineOf(node.getStart())
      const lines = lineOf(node.end) - from + 1
      if (lines > maxLines) found.push(`${from}: ${node.name?.getText() ?? 'a function'} has ${lines} lines`)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

if (import.meta.main) {
  const found = globSync(CORE)
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) => longFunctions(readFileSync(path, 'utf8')).map((each) => `${path}:${each}`))
  if (found.length > 0) {
    console.error(`At most ${MAX_LINES} lines in a function of the core:\n${found.join('\n')}`)
    process.exit(1)
  }
}
