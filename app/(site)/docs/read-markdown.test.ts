import { expect, it } from 'vitest'
import { codeOf, plainText, readMarkdown, slugOf } from './read-markdown.ts'

it('reads the language and file name of a code block', () => {
  const [code] = readMarkdown('```go cmd/main.go\nfunc main() {}\n```')
  expect(code?.type === 'code' && codeOf(code)).toEqual({
    language: 'go',
    file: 'cmd/main.go',
    code: 'func main() {}',
  })
})

it('extracts plain text from Markdown', () => {
  const text = `Take **the** \`raw\` body,
and [no other](/docs/x).

- first
  goes on
- second

> Mind this.

| a | b \\| c |
|---|---|
| 1 | 2 |
`
  expect(plainText(readMarkdown(text))).toBe(
    'Take the raw body, and no other. first goes on second Mind this. a b | c 1 2',
  )
})

it('turns a heading into an anchor', () => {
  expect(slugOf(plainText(readMarkdown('## One `two`, three!')))).toBe('one-two-three')
})
