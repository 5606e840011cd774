import Link from 'next/link'
import { CodeBlock } from '#components/ui/code-block.tsx'
import { CodeTabs } from '#components/ui/code-tabs.tsx'
import { LINK } from '#components/ui/text-link.tsx'
import type { Operation } from '#lib/api/operation.ts'
import { callSnippets } from '#lib/api/reference/call-snippets.ts'
import { type Field, fieldsOf } from '#lib/api/reference/describe-schema.ts'
import { errorCodes } from '#lib/platform/kernel/errors.ts'

const METHODS = {
  GET: 'bg-good-soft text-good',
  POST: 'bg-water-soft text-water',
  PUT: 'bg-warn-soft text-warn',
  PATCH: 'bg-warn-soft text-warn',
  DELETE: 'bg-bad-soft text-bad',
} as const

const AUTH = { actor: 'account key, ak_…', sender: 'Sender token, sk_…', nobody: 'none' } as const

export function Method({ method }: Pick<Operation, 'method'>) {
  return (
    <span
      className={`w-14 rounded-sm py-0.5 text-center font-mono font-semibold text-[0.6875rem] ${METHODS[method]}`}
    >
      {method}
    </span>
  )
}

/** An operation's reference, with its own anchor. */
export function OperationView({ operation, baseUrl }: { operation: Operation; baseUrl: string }) {
  const { id, method, path, summary, auth, query, body, answer, status, problems = [] } = operation
  const snippets = callSnippets(operation, baseUrl)
  return (
    <section id={id} className="scroll-mt-20">
      <header className="group flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3">
        <Method method={method} />
        <h2 className="min-w-0 break-all font-mono text-sm">{path}</h2>
        <a
          href={`#${id}`}
          aria-label={`Link to ${method} ${path}`}
          className="text-ink-faint opacity-0 focus:opacity-100 group-hover:opacity-100"
        >
          #
        </a>
        <p className="w-full text-ink-soft text-sm">{summary}</p>
      </header>
      <div className="space-y-4 border-t bg-canvas px-4 py-4 text-sm">
        <CodeTabs
          label={`${method} ${path}`}
          tabs={[
            { name: 'curl', panel: <CodeBlock code={snippets.curl} language="bash" bare /> },
            { name: 'TypeScript', panel: <CodeBlock code={snippets.typescript} language="js" bare /> },
            ...(snippets.answer
              ? [
                  {
                    name: `Response ${status}`,
                    panel: <CodeBlock code={snippets.answer} language="json" bare />,
                  },
                ]
              : []),
          ]}
        />
        <p className="text-ink-soft">
          Authorization: {AUTH[auth]}. Response status: {status}.
        </p>
        {query && <Fields title="Query" fields={fieldsOf(query, 'input')} />}
        {body && <Fields title="Body" fields={fieldsOf(body, 'input')} />}
        {answer && <Fields title="Response" fields={fieldsOf(answer, 'output')} answer />}
        {problems.length > 0 && (
          <p className="text-ink-soft">
            Specific errors:{' '}
            {problems.map((problem, index) => {
              const code = typeof problem === 'string' ? problem : problem.code
              const number = typeof problem === 'string' ? errorCodes[problem][0] : problem.status
              return (
                <span key={`${code}-${number}`}>
                  {index > 0 && ', '}
                  <Link
                    href={`/docs/problems/${code}`}
                    prefetch={false}
                    className={`${LINK} font-mono text-xs`}
                  >
                    {code}
                  </Link>{' '}
                  {number}
                </span>
              )
            })}
          </p>
        )}
      </div>
    </section>
  )
}

function Fields({ title, fields, answer = false }: { title: string; fields: Field[]; answer?: boolean }) {
  if (fields.length === 0) return null
  return (
    <div>
      <h3 className="mb-1.5 font-medium text-ink-faint text-xs">{title}</h3>
      <dl className="fields">
        {fields.map(({ name, type, required, description }) => (
          <div key={name}>
            <dt>
              {name}
              {!answer && required && <b>required</b>}
            </dt>
            <dd>{type}</dd>
            {description && <dd>{description}</dd>}
          </div>
        ))}
      </dl>
    </div>
  )
}
