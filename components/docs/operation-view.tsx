import { ChevronRight } from 'lucide-react'
import type { Operation } from '#lib/api/operation.ts'
import { errorCodes } from '#lib/platform/kernel/errors.ts'
import { type Field, fieldsOf } from './describe-schema.ts'

const METHODS = {
  GET: 'bg-good-soft text-good',
  POST: 'bg-water-soft text-water',
  PUT: 'bg-warn-soft text-warn',
  PATCH: 'bg-warn-soft text-warn',
  DELETE: 'bg-bad-soft text-bad',
} as const

const AUTH = { actor: 'account key, ak_…', sender: 'Sender token, sk_…', nobody: 'none' } as const

/** One operation, closed until it is asked for. */
export function OperationView({ operation }: { operation: Operation }) {
  const { id, method, path, summary, auth, query, body, answer, status, problems = [] } = operation
  return (
    <details id={id} className="group">
      <summary className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3.5 py-2.5 -outline-offset-2 hover:bg-hover/60 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          className="size-3.5 text-ink-faint transition-transform group-open:rotate-90"
          aria-hidden
        />
        <span
          className={`w-14 rounded-sm py-0.5 text-center font-mono font-semibold text-[0.6875rem] ${METHODS[method]}`}
        >
          {method}
        </span>
        <code className="break-all font-mono text-sm">{path}</code>
        <span className="text-ink-faint text-sm sm:ml-auto">{summary}</span>
      </summary>
      <div className="space-y-4 border-t bg-canvas px-4 py-4 text-sm">
        <p className="text-ink-soft">
          Authorization: {AUTH[auth]}. Answers {status}.
        </p>
        {query && <Fields title="Query" fields={fieldsOf(query, 'input')} />}
        {body && <Fields title="Body" fields={fieldsOf(body, 'input')} />}
        {answer && <Fields title="Answer" fields={fieldsOf(answer, 'output')} answer />}
        {problems.length > 0 && (
          <p className="text-ink-soft">
            Errors of its own:{' '}
            {problems.map((problem, index) => {
              const code = typeof problem === 'string' ? problem : problem.code
              const number = typeof problem === 'string' ? errorCodes[problem][0] : problem.status
              return (
                <span key={`${code}-${number}`}>
                  {index > 0 && ', '}
                  <code className="font-mono text-xs">{code}</code> {number}
                </span>
              )
            })}
          </p>
        )}
      </div>
    </details>
  )
}

function Fields({ title, fields, answer = false }: { title: string; fields: Field[]; answer?: boolean }) {
  if (fields.length === 0) return null
  return (
    <div>
      <h3 className="mb-1.5 font-medium text-ink-faint text-xs">{title}</h3>
      <dl className="divide-y rounded-md border bg-surface">
        {fields.map(({ name, type, required, description }) => (
          <div key={name} className="flex flex-wrap items-baseline gap-x-3 px-3 py-1.5">
            <dt className="font-mono text-xs">
              {name}
              {!answer && required && <span className="ml-1.5 font-sans text-bad">required</span>}
            </dt>
            <dd className="min-w-0 break-words font-mono text-ink-faint text-xs">{type}</dd>
            {description && (
              <dd className="w-full text-ink-soft text-xs sm:ml-auto sm:w-auto">{description}</dd>
            )}
          </div>
        ))}
      </dl>
    </div>
  )
}
