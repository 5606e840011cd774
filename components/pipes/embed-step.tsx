import { CodeBlock } from '../ui/code-block.tsx'
import { CodeTabs } from '../ui/code-tabs.tsx'
import type { Language } from '../ui/highlight.ts'

type Snippet = { name: string; language: Language; code: string }

export function EmbedStep({
  title,
  text,
  snippets,
}: {
  title: string
  text: string
  snippets: readonly Snippet[]
}) {
  return (
    <section>
      <h2 className="font-semibold text-lg">{title}</h2>
      <p className="mt-0.5 mb-3 text-ink-soft text-sm">{text}</p>
      <CodeTabs
        label={title}
        tabs={snippets.map(({ name, language, code }) => ({
          name,
          panel: <CodeBlock bare code={code.trimEnd()} language={language} />,
        }))}
      />
    </section>
  )
}
