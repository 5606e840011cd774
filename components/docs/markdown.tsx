import Link from 'next/link'
import type { ReactNode } from 'react'
import { CodeBlock } from '../ui/code-block.tsx'
import type { Language } from '../ui/highlight.ts'
import { Notice } from '../ui/notice.tsx'
import { REACHABLE } from '../ui/reachable.ts'
import { type Block, parseMarkdown } from './parse-markdown.ts'

export function Markdown({ source }: { source: string }) {
  return parseMarkdown(source).map((block, index) => <BlockView key={index} block={block} />)
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading':
      return <Heading {...block} />
    case 'paragraph':
      return <p className="my-3.5 text-ink-soft leading-relaxed">{inline(block.text)}</p>
    case 'note':
      return (
        <Notice tone="info" className="my-5">
          {inline(block.text)}
        </Notice>
      )
    case 'code':
      return (
        <CodeBlock
          code={block.code}
          language={(block.language || 'text') as Language}
          title={block.file}
          className="my-4"
        />
      )
    case 'list':
      return <List {...block} />
    case 'table':
      return <DocTable {...block} />
  }
}

function Heading({ depth, text, id }: Extract<Block, { kind: 'heading' }>) {
  if (depth === 1) return <h1 className="font-semibold text-3xl tracking-[-0.025em]">{inline(text)}</h1>
  const Tag = depth === 2 ? 'h2' : 'h3'
  const look = depth === 2 ? 'mt-11 mb-3 text-xl tracking-[-0.015em]' : 'mt-7 mb-2 text-lg'
  return (
    <Tag id={id} className={`group font-semibold ${look}`}>
      {inline(text)}
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

function List({ ordered, items }: Extract<Block, { kind: 'list' }>) {
  const Tag = ordered ? 'ol' : 'ul'
  return (
    <Tag
      className={`my-3.5 space-y-1.5 pl-5 text-ink-soft leading-relaxed ${ordered ? 'list-decimal' : 'list-disc'} marker:text-ink-faint`}
    >
      {items.map((item) => (
        <li key={item} className="pl-1">
          {inline(item)}
        </li>
      ))}
    </Tag>
  )
}

function DocTable({ head, rows }: Extract<Block, { kind: 'table' }>) {
  return (
    <section
      className="@container relative my-5 overflow-x-auto rounded-lg border"
      {...REACHABLE}
      aria-label={`Table: ${head.join(', ')}`}
    >
      <table className="doc-table w-full text-sm">
        <thead className="bg-canvas text-left text-ink-faint text-xs">
          <tr>
            {head.map((cell) => (
              <th key={cell} scope="col" className="px-3.5 py-2 font-medium">
                {inline(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y border-t bg-surface text-ink-soft">
          {rows.map((row) => (
            <tr key={row.join()}>
              {row.map((cell, index) => (
                <td
                  key={index}
                  data-label={index > 0 ? head[index] : undefined}
                  className="px-3.5 py-2 align-top leading-relaxed @min-[30rem]:[&:first-child>code]:whitespace-nowrap"
                >
                  {inline(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const INLINE = /`([^`]+)`|\[([^\]]+)\]\(([^)]+)\)|\*\*([^*]+)\*\*/g

function inline(text: string): ReactNode[] {
  const out: ReactNode[] = []
  let end = 0
  for (const match of text.matchAll(INLINE)) {
    out.push(text.slice(end, match.index))
    const [whole, code, label, href, strong] = match
    if (code) out.push(<InlineCode key={match.index}>{code}</InlineCode>)
    else if (strong)
      out.push(
        <strong key={match.index} className="font-semibold text-ink">
          {strong}
        </strong>,
      )
    else
      out.push(
        <Link
          key={match.index}
          href={href!}
          className="text-water underline decoration-water-line underline-offset-3 hover:decoration-current"
        >
          {label}
        </Link>,
      )
    end = match.index + whole.length
  }
  out.push(text.slice(end))
  return out
}

function InlineCode({ children }: { children: string }) {
  return (
    <code className="rounded-sm bg-hover px-1 py-0.5 font-mono text-[0.85em] text-ink [overflow-wrap:anywhere]">
      {children}
    </code>
  )
}
