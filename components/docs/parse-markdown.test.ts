import { expect, it } from 'vitest'
import { parseMarkdown } from './parse-markdown.ts'

it('reads headings, paragraphs, lists, notes, tables and code', () => {
  const source = `# One \`two\`

A line
and its rest.

- first
  goes on
- second

> Mind
> this.

| a | b \\| c |
|---|---|
| 1 | 2 |

\`\`\`js
const x = '# no heading'
\`\`\`
`
  expect(parseMarkdown(source)).toEqual([
    { kind: 'heading', depth: 1, text: 'One `two`', id: 'one-two' },
    { kind: 'paragraph', text: 'A line and its rest.' },
    { kind: 'list', ordered: false, items: ['first goes on', 'second'] },
    { kind: 'note', text: 'Mind this.' },
    { kind: 'table', head: ['a', 'b | c'], rows: [['1', '2']] },
    { kind: 'code', language: 'js', code: "const x = '# no heading'" },
  ])
})

it('knows the file that code belongs into', () => {
  expect(parseMarkdown('```go cmd/main.go\nfunc main() {}\n```')).toEqual([
    { kind: 'code', language: 'go', file: 'cmd/main.go', code: 'func main() {}' },
  ])
})

it('ends at an unclosed fence', () => {
  expect(parseMarkdown('```\nabc')).toEqual([{ kind: 'code', language: '', code: 'abc' }])
})
