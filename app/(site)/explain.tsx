import { CodeBlock } from '#components/ui/code-block.tsx'
import { SHORT_UPPY_SNIPPET } from '#lib/dashboard/embed/browser-snippets.ts'
import { nodeTokenSnippet } from '#lib/dashboard/embed/snippets.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

const EVENT = `{
  "event": "file.status_changed",
  "data": {
    "filename": "launch-cut.mov",
    "status": "transferred",
    "size": 4812302144,
    "sender": "web backend",
    "destinations": [{ "bucket": "acme-media",
      "key": "0196…/launch-cut.mov" }]
  }
}`

/** The three places where a customer's code uses Sluice, in the order in which a file passes through them. */
export function Explain() {
  const { baseUrl, uploadUrl } = getRuntime().config
  const at = { baseUrl, uploadUrl: `${uploadUrl}/pipes/pipe_…/files/`, pipeId: 'pipe_…' }
  const steps = [
    {
      title: 'Your backend requests a token',
      text: 'The Sender token stays in your backend. The browser gets a token that can only upload, to one Pipe, for an hour.',
      code: nodeTokenSnippet(at),
      language: 'js',
    },
    {
      title: 'The browser uploads, and resumes',
      text: 'Use Sluice’s plugin for Uppy, its own components, or any TUS client. Close the laptop or change networks: the upload continues automatically from the confirmed offset.',
      code: SHORT_UPPY_SNIPPET,
      language: 'js',
    },
    {
      title: 'Your backend is notified',
      text: 'The object is in your bucket. The event contains its location, key and checksum.',
      code: EVENT,
      language: 'json',
    },
  ] as const
  return (
    <section aria-labelledby="how" className="border-y bg-surface">
      <div className="mx-auto max-w-6xl px-4 py-16 sm:px-6">
        <h2 id="how" className="font-semibold text-3xl tracking-[-0.025em]">
          Three places in your code.
        </h2>
        <ol className="mt-10 grid gap-10">
          {steps.map(({ title, text, code, language }) => (
            <li key={title} className="grid gap-x-12 gap-y-4 lg:grid-cols-[1fr_1.7fr]">
              <div>
                <h3 className="font-semibold text-lg">{title}</h3>
                <p className="mt-1.5 text-base text-ink-soft leading-relaxed">{text}</p>
              </div>
              <CodeBlock code={code.trimEnd()} language={language} className="min-w-0" />
            </li>
          ))}
        </ol>
      </div>
    </section>
  )
}
