import { clsx } from 'clsx'
import { CopyButton } from './copy-button.tsx'
import { highlight, type Language } from './highlight.ts'
import { REACHABLE } from './reachable.ts'

type Props = {
  code: string
  language: Language
  title?: string | undefined
  className?: string
  bare?: boolean
}

/** Its shadows hide the code between the button and the edge, and fade out the code before it. */
const BESIDE_CODE =
  'absolute top-1.5 right-1.5 bg-sunken shadow-[0.375rem_0_0_var(--sunken),-0.75rem_0_0.5rem_var(--sunken)]'

export function CodeBlock({ code, language, title, className, bare = false }: Props) {
  return (
    <figure
      className={clsx(
        'group relative overflow-hidden',
        !bare && 'rounded-lg border border-line bg-sunken',
        className,
      )}
    >
      {title && (
        <figcaption className="flex min-h-9 items-center justify-between border-b pr-1 pl-3.5 text-ink-soft text-xs">
          <span className="min-w-0 break-all">{title}</span>
          <CopyButton text={code} what={title} />
        </figcaption>
      )}
      {!title && <CopyButton text={code} what="code" className={BESIDE_CODE} />}
      <pre {...REACHABLE} className="overflow-x-auto p-3.5 pr-11 font-mono text-[0.78rem] leading-[1.6]">
        <Code code={code} language={language} />
      </pre>
    </figure>
  )
}

export function Code({ code, language }: { code: string; language: Language }) {
  let at = 0
  return (
    <code>
      {highlight(code, language).map(({ kind, text }) => {
        const key = at
        at += text.length
        return kind ? (
          <span key={key} className={`tok-${kind}`}>
            {text}
          </span>
        ) : (
          text
        )
      })}
    </code>
  )
}
