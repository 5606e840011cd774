import { Check, Minus, X } from 'lucide-react'
import type { BucketCheck } from '#drizzle/schema/index.ts'

/** Without these an upload cannot arrive; the others only make more possible. */
const NEEDED = new Set(['PutObject', 'CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload'])

export function CheckedOperations({ check }: { check: Pick<BucketCheck, 'ok' | 'operations'> }) {
  return (
    <ul className="divide-y rounded-md border">
      {check.operations.map(({ name, ok, message }) => {
        const needed = NEEDED.has(name)
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
