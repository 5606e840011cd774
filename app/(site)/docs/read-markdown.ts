import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'

export type { MarkedToken, Token, Tokens }

export type Code = { language: string; file: string | undefined; code: string }

export function readMarkdown(source: string): MarkedToken[] {
  return lexer(source) as MarkedToken[]
}

/** The language may be followed by the name of the file that the code belongs in. */
export function codeOf({ lang = '', text }: Tokens.Code): Code {
  const [language = '', file] = lang.split(' ')
  return { language, file, code: text }
}

/** The plain text, without markup. */
export function plainText(tokens: readonly Token[]): string {
  return (tokens as MarkedToken[]).map(wordsOf).join('').replace(/\s+/g, ' ').trim()
}

const INLINE = new Set(['text', 'escape', 'codespan', 'link', 'strong', 'em', 'br', 'html'])

function wordsOf(token: MarkedToken): string {
  const words = 'text' in token ? token.text : token.raw
  const inner = partsOf(token)
  const all = inner ? (inner as MarkedToken[]).map(wordsOf).join('') : words
  return INLINE.has(token.type) ? all : `${all} `
}

function partsOf(token: MarkedToken): readonly Token[] | undefined {
  if (token.type === 'list') return token.items
  if (token.type === 'table') return [token.header, ...token.rows].flat().map(asParagraph)
  return 'tokens' in token ? token.tokens : undefined
}

const asParagraph = ({ text, tokens }: Tokens.TableCell): Tokens.Paragraph => ({
  type: 'paragraph',
  raw: text,
  text,
  tokens,
})

export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}
