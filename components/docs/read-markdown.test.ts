import { expect, it } from 'vitest'
import { codeOf, plainText, readMarkdown, slugOf } from './read-markdown.ts'

it('knows which file a code block belongs in', () => {
  const [code] = readMarkdown('```go cmd/main.go\nfunc main() {}\n```')
  expect(code?.type === 'code' && codeOf(code)).toEqual({
    language: 'go',
    file: 'cmd/main.go',
    code: 'func main() {}',
  })
})

it('reads the text without the markup', () => {
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

it('gives each heading an address', () => {
  expect(slugOf(plainText(readMarkdown('## One `two`, three!')))).toBe('one-two-three')
})
