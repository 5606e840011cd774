import Link from 'next/link'
import { CodeBlock } from '#components/ui/code-block.tsx'
import { LINK } from '#components/ui/text-link.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { API_GROUPS } from './groups.ts'
import { Method } from './operation-view.tsx'

export const metadata = {
  alternates: { canonical: '/docs/api' },
  title: 'API reference',
  description:
    'Every operation of the management API and the token API, generated from the schemas that validate requests.',
}

/** Lists all operations. Each keeps the anchor that it had when they were all described on this page. */
export default function ApiReference() {
  const { baseUrl } = getRuntime().config
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
      {API_GROUPS.map(({ title, summary, href, operations }) => (
        <section key={title} aria-labelledby={`tag-${title}`}>
          <h2 id={`tag-${title}`} className="mt-10 font-semibold text-xl">
            <Link href={href} prefetch={false} className="hover:underline">
              {title}
            </Link>
          </h2>
          <p className="mt-1 mb-3 text-ink-soft text-sm">{summary}</p>
          <ul className="divide-y overflow-hidden rounded-lg border bg-surface">
            {operations.map(({ id, method, path, summary }) => (
              <li key={id} id={id} className="scroll-mt-20 target:bg-water-soft">
                <Link
                  href={`${href}#${id}`}
                  prefetch={false}
                  className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 px-3.5 py-2 -outline-offset-2 hover:bg-hover"
                >
                  <Method method={method} />
                  <span className="min-w-0 break-all font-mono text-[0.8125rem]">{path}</span>
                  <span className="w-full text-ink-soft text-sm">{summary}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </article>
  )
}
