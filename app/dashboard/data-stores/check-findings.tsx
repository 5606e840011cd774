import { Check, Minus, X } from 'lucide-react'
import { CodeBlock } from '#components/ui/code-block.tsx'
import { Summary } from '#components/ui/summary.tsx'
import type { BucketCheck } from '#drizzle/schema/index.ts'

/** The optional operations; uploads need all the others. */
const OPTIONAL = new Set([
  ...['AbortMultipartUpload', 'GetObject', 'UploadPartCopy', 'DeleteObject'],
  ...['GetBlob', 'DeleteBlob'],
])

export const isOptional = (name: string): boolean => OPTIONAL.has(name)

export function CheckedOperations({ check }: { check: Pick<BucketCheck, 'ok' | 'operations'> }) {
  return (
    <ul className="divide-y rounded-md border">
      {check.operations.map(({ name, ok, message }) => {
        const needed = !isOptional(name)
        const Icon = ok ? Check : needed || !check.ok ? X : Minus
        const tone = ok ? 'text-good' : needed || !check.ok ? 'text-bad' : 'text-ink-faint'
        return (
          <li key={name} className="flex gap-2.5 px-3 py-2 text-sm">
            <Icon className={`mt-0.5 size-4 shrink-0 ${tone}`} aria-hidden />
            <div className="min-w-0">
              <p className="font-medium">
                {name}
                <span className="sr-only">{ok ? ': works' : ': does not work'}</span>
              </p>
              {message && <p className="break-words text-ink-soft">{message}</p>}
            </div>
          </li>
        )
      })}
    </ul>
  )
}

/** The minimal policy and a lifecycle rule, to paste into the provider's console. */
export function LeastPolicy({ check }: { check: Pick<BucketCheck, 'policy' | 'lifecycleRule'> }) {
  const { policy, lifecycleRule } = check
  return (
    <>
      {policy && <Folded title="The minimal policy for these keys" code={policy} />}
      {lifecycleRule && <Folded title="Lifecycle rule that removes what is left over" code={lifecycleRule} />}
    </>
  )
}

type FoldedProps = { title: string; code: string; language?: 'json' | 'bash' }

export function Folded({ title, code, language = 'json' }: FoldedProps) {
  return (
    <details className="group rounded-md border">
      <Summary className="px-3 py-2 font-medium hover:bg-hover">{title}</Summary>
      <div className="p-3 pt-1">
        <CodeBlock code={code} language={language} />
      </div>
    </details>
  )
}
