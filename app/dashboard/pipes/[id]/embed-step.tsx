import { CodeBlock } from '#components/ui/code-block.tsx'
import { CodeTabs } from '#components/ui/code-tabs.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import type { Language } from '#components/ui/highlight.ts'
import {
  curlUploadSnippet,
  type EmbedTarget,
  fetchUploadSnippet,
  swiftUploadSnippet,
} from '#lib/dashboard/embed/snippets.ts'

type Snippet = { name: string; language: Language; code: string; install?: string }

type Props = { title: string; text: string; snippets: readonly Snippet[] }

export function EmbedStep({ title, text, snippets }: Props) {
  return (
    <section>
      <h2 className="font-semibold text-lg">{title}</h2>
      <p className="mt-0.5 mb-3 text-ink-soft text-sm">{text}</p>
      <CodeTabs
        label={title}
        tabs={snippets.map(({ name, language, code, install }) => ({
          name,
          panel: (
            <>
              {install && (
                <p className="relative overflow-x-auto border-b px-3.5 py-2.5 pr-11 font-mono text-[0.78rem]">
                  <span className="whitespace-pre">{install}</span>
                  <CopyButton
                    text={install}
                    what="install command"
                    className="absolute top-1 right-1.5 bg-sunken"
                  />
                </p>
              )}
              <CodeBlock bare code={code.trimEnd()} language={language} />
            </>
          ),
        }))}
      />
    </section>
  )
}

export function WithoutTusStep({ target }: { target: EmbedTarget }) {
  return (
    <EmbedStep
      title="Without TUS: scripts, devices, apps"
      text="The same address accepts a file in one plain request, and resumable uploads from iPhones."
      snippets={[
        { name: 'curl', language: 'bash', code: curlUploadSnippet(target) },
        { name: 'Swift', language: 'swift', code: swiftUploadSnippet(target) },
        { name: 'fetch', language: 'js', code: fetchUploadSnippet(target) },
      ]}
    />
  )
}
