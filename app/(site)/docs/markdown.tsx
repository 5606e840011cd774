import type { ReactNode } from 'react'
import { CodeBlock } from '#components/ui/code-block.tsx'
import type { Language } from '#components/ui/highlight.ts'
import { Notice } from '#components/ui/notice.tsx'
import { REACHABLE } from '#components/ui/reachable.ts'
import { TextLink } from '#components/ui/text-link.tsx'
import {
  type Code,
  codeOf,
  type MarkedToken,
  plainText,
  readMarkdown,
  slugOf,
  type Token,
  type Tokens,
} from './read-markdown.ts'

export function Markdown({ source }: { source: string }) {
  return readMarkdown(source).map((token, index) => <Block key={index} token={token} />)
}

function Block({ token }: { token: MarkedToken }) {
  switch (token.type) {
    case 'space':
      return null
    case 'heading':
      return <Heading {...token} />
    case 'paragraph':
      return <p className="my-3.5 text-ink-soft leading-relaxed">{inline(token.tokens)}</p>
    case 'blockquote':
      return <Note {...token} />
    case 'code':
      return <CodeFile {...codeOf(token)} />
    case 'list':
      return <List {...token} />
    case 'table':
      return <DocTable {...token} />
    default:
      throw new Error(`Documentation pages cannot render the Markdown token "${token.type}".`)
  }
}

function Note({ tokens }: Tokens.Blockquote) {
  return (
    <Notice tone="info" className="my-5">
      {tokens.map((token) => inline((token as Tokens.Paragraph).tokens))}
    </Notice>
  )
}

function CodeFile({ language, file, code }: Code) {
  return <CodeBlock code={code} language={(language || 'text') as Language} title={file} className="my-4" />
}

function Heading({ depth, tokens }: Tokens.Heading) {
  if (depth === 1) return <h1 className="font-semibold text-3xl tracking-[-0.025em]">{inline(tokens)}</h1>
  const text = plainText(tokens)
  const id = slugOf(text)
  const Tag = depth === 2 ? 'h2' : 'h3'
  const look = depth === 2 ? 'mt-11 mb-3 text-xl tracking-[-0.015em]' : 'mt-7 mb-2 text-lg'
  return (
    <Tag id={id} className={`group font-semibold ${look}`}>
      {inline(tokens)}
      <a
        href={`#${id}`}
        aria-label={`Link to ${text}`}
        className="ml-2 text-ink-faint opacity-0 focus:opacity-100 group-hover:opacity-100"
      >
        #
      </a>
    </Tag>
  )
}

function List({ ordered, items }: Tokens.List) {
  const Tag = ordered ? 'ol' : 'ul'
  return (
    <Tag
      className={`my-3.5 space-y-1.5 pl-5 text-ink-soft leading-relaxed ${ordered ? 'list-decimal' : 'list-disc'} marker:text-ink-faint`}
    >
      {items.map((item) => (
        <li key={item.text} className="pl-1">
          {(item.tokens as MarkedToken[]).map((token, index) =>
            token.type === 'text' ? inline([token]) : <Block key={index} token={token} />,
          )}
        </li>
      ))}
    </Tag>
  )
}

/** Search results lead to the row of a setting. */
const SETTING = /^`([A-Z_]+)`$/

function DocTable({ header, rows }: Tokens.Table) {
  const head = header.map(({ tokens }) => plainText(tokens))
  return (
    <section
      className="@container relative my-5 overflow-x-auto rounded-lg border"
      {...REACHABLE}
      aria-label={`Table: ${head.join(', ')}`}
    >
      <table className="doc-table w-full text-sm">
        <thead className="bg-canvas text-left text-ink-faint text-xs">
          <tr>
            {header.map(({ text, tokens }) => (
              <th key={text} scope="col" className="px-3.5 py-2 font-medium">
                {inline(tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y border-t bg-surface text-ink-soft">
          {rows.map((row) => (
            <tr
              key={row.map(({ text }) => text).join()}
              id={row[0]!.text.match(SETTING)?.[1]}
              className="target:bg-water-soft"
            >
              {row.map(({ tokens }, index) => (
                <td key={index} data-label={index > 0 ? head[index] : undefined}>
                  {inline(tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function inline(tokens: readonly Token[]): ReactNode[] {
  return (tokens as MarkedToken[]).map((token, index) => <Inline key={index} token={token} />)
}

function Inline({ token }: { token: MarkedToken }): ReactNode {
  switch (token.type) {
    case 'codespan':
      return <InlineCode>{token.text}</InlineCode>
    case 'strong':
      return <strong className="font-semibold text-ink">{inline(token.tokens)}</strong>
    case 'link':
      return <TextLink href={token.href}>{inline(token.tokens)}</TextLink>
    case 'image':
      return <Picture {...token} />
    case 'escape':
      return token.text
    case 'text':
      return token.tokens ? inline(token.tokens) : token.text
    default:
      return token.raw
  }
}

/** An image's title is its size, such as `624x847`, so that the content below does not shift when the image loads. */
function Picture({ href, text, title }: Tokens.Image) {
  const [width, height] = (title ?? '').split('x')
  return (
    <img src={href} alt={text} width={width} height={height} loading="lazy" className="rounded-lg border" />
  )
}

function InlineCode({ children }: { children: string }) {
  return <code className="doc-code">{children}</code>
}
