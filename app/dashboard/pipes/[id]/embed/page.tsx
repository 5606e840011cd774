import type { Language } from '#components/ui/highlight.ts'
import { Notice } from '#components/ui/notice.tsx'
import {
  plainUppySnippet,
  TUS_JS_INSTALL,
  tusJsSnippet,
  UPPY_SNIPPETS,
  uppyPackages,
} from '#lib/dashboard/embed/browser-snippets.ts'
import { installKit } from '#lib/dashboard/embed/kit.ts'
import {
  curlTokenSnippet,
  KIT_PAGE_SNIPPET,
  kitExpressSnippet,
  kitHtmlSnippet,
  kitRouteSnippet,
  nodeTokenSnippet,
} from '#lib/dashboard/embed/snippets.ts'
import { verificationSnippets } from '#lib/webhooks/signature/verification-snippets.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { EmbedStep, WithoutTusStep } from '../embed-step.tsx'

const HIGHLIGHT: Record<string, Language> = {
  Node: 'js',
  Python: 'python',
  Go: 'go',
  PHP: 'php',
  Ruby: 'ruby',
}

const UPPY_TABS = [
  { name: 'Uppy for React', framework: 'react' },
  { name: 'Uppy for Vue', framework: 'vue' },
  { name: 'Uppy for Svelte', framework: 'svelte' },
] as const

export const generateMetadata = titledByPipe('Embed')

export default async function Embed(props: PipeProps) {
  const { runtime, pipe } = await currentPipe(props, 'see')
  const target = { baseUrl: runtime.config.baseUrl, uploadUrl: pipe.uploadUrl, pipeId: pipe.id }
  const receivers = await verificationSnippets()
  return (
    <div className="max-w-3xl space-y-9">
      {!pipe.source.http && (
        <Notice tone="warn" title="This Pipe's HTTP (TUS) source is off">
          Token requests are rejected with 409 until you switch it on under Sources.
        </Notice>
      )}
      <EmbedStep
        title="With the kit: install the packages"
        text="This server serves the packages, because they are not on npm yet. Your lock file pins their digests."
        snippets={[
          {
            name: 'npm',
            language: 'bash',
            code: installKit(target.baseUrl, '@sluice/node', '@sluice/react'),
          },
        ]}
      />
      <EmbedStep
        title="With the kit: add two files"
        text="A route that issues tokens to the users you allow, and a button. Uploads survive lost connections, expired tokens and reloads."
        snippets={[
          { name: 'Next.js route', language: 'tsx', code: kitRouteSnippet(target) },
          { name: 'Express route', language: 'js', code: kitExpressSnippet(target) },
          { name: 'React page', language: 'tsx', code: KIT_PAGE_SNIPPET },
          { name: 'HTML page', language: 'html', code: kitHtmlSnippet(target) },
        ]}
      />
      <EmbedStep
        title="With Uppy"
        text="A plugin sends Uppy's files like the kit: it waits while the network or the server is down, renews tokens and shows the reason of each failure. After a reload, one click resumes the uploads."
        snippets={[
          { name: 'Uppy', language: 'js', code: plainUppySnippet(target) },
          ...UPPY_TABS.map(({ name, framework }) => ({
            name,
            language: 'tsx' as const,
            code: UPPY_SNIPPETS[framework],
            install: `${installKit(target.baseUrl, '@sluice/uppy')} ${uppyPackages(framework)}`,
          })),
        ]}
      />
      <p className="border-t pt-7 text-ink-soft text-sm">
        The same without the kit, using the protocol directly:
      </p>
      <EmbedStep
        title="On your backend: request a token"
        text="The Sender token comes from your backend's environment. Never put it in a page."
        snippets={[
          { name: 'curl', language: 'bash', code: curlTokenSnippet(target) },
          { name: 'Node', language: 'js', code: nodeTokenSnippet(target) },
        ]}
      />
      <EmbedStep
        title="On your page: upload"
        text="On its own, tus-js-client gives up after a few attempts, even while the browser is offline. The kit does not."
        snippets={[
          { name: 'tus-js-client', language: 'js', code: tusJsSnippet(target), install: TUS_JS_INSTALL },
        ]}
      />
      <WithoutTusStep target={target} />
      <EmbedStep
        title="On your backend: verify the webhook"
        text="Pass the raw body to this function, before any parser reads it. The function rejects webhooks older than five minutes."
        snippets={receivers.map(({ language: name, code }) => ({
          name,
          code,
          language: HIGHLIGHT[name] ?? 'text',
        }))}
      />
    </div>
  )
}
