import { CodeBlock } from '#components/ui/code-block.tsx'
import { LINK } from '#components/ui/text-link.tsx'
import { OPERATIONS } from '#lib/api/operations.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { OperationView } from './operation-view.tsx'

export const metadata = {
  alternates: { canonical: '/docs/api' },
  title: 'API reference',
  description:
    'Every operation of the management API and the token API, generated from the schemas that validate requests.',
}

export default function ApiReference() {
  const { baseUrl } = getRuntime().config
  const byTag = Map.groupBy(OPERATIONS, ({ tag }) => tag)
  return (
    <article className="max-w-3xl">
      <h1 className="font-semibold text-3xl tracking-[-0.025em]">API reference</h1>
      <p className="mt-3 mb-4 text-[0.9375rem] text-ink-soft leading-relaxed">
        The API can do everything the dashboard does. Create an account key under Settings and send it as a
        Bearer token. Errors are problem JSON with a stable code; lists return{' '}
        <code className="font-mono text-sm">data</code> and{' '}
        <code className="font-mono text-sm">nextCursor</code>. A POST with an{' '}
        <code className="font-mono text-sm">Idempotency-Key</code> can be repeated for a day.
      </p>
      <CodeBlock
        language="bash"
        code={`curl ${baseUrl}/api/v1/pipes \\\n  -H "Authorization: Bearer $SLUICE_ACCOUNT_KEY"`}
      />
      <p className="mt-4 text-ink-soft text-sm">
        Also available as{' '}
        <a href="/api/v1/openapi.json" className={LINK}>
          OpenAPI 3.1
        </a>
        .
      </p>
      {[...byTag].map(([tag, rows]) => (
        <section key={tag} aria-labelledby={`tag-${tag}`}>
          <h2 id={`tag-${tag}`} className="mt-12 mb-3 font-semibold text-xl">
            {tag}
          </h2>
          <div className="divide-y overflow-hidden rounded-lg border bg-surface">
            {rows.map((operation) => (
              <OperationView key={operation.id} operation={operation} baseUrl={baseUrl} />
            ))}
          </div>
        </section>
      ))}
    </article>
  )
}
