import { Check, Minus, X } from 'lucide-react'
import type { DataStore } from '#lib/data-stores/data-store.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { Notice } from '../ui/notice.tsx'
import { Panel } from '../ui/panel.tsx'
import { Time } from '../ui/time.tsx'
import { CheckNow } from './check-now.tsx'

/** Without these an upload cannot arrive; the others only make more possible. */
const NEEDED = new Set(['PutObject', 'CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload'])

/** What the check found, operation by operation, with what to change and what to paste. */
export function CheckReport({ store }: { store: DataStore }) {
  const { check } = store
  return (
    <Panel
      title="Check"
      description={
        check ? (
          <>
            Ran <Time at={check.checkedAt} />.
          </>
        ) : (
          'Not run with the present settings yet.'
        )
      }
      aside={<CheckNow id={store.id} />}
    >
      {check && (
        <div className="space-y-4">
          {check.ok ? (
            <Notice tone="good" title="Uploads can go to this bucket." />
          ) : (
            <Notice tone="bad" title="Uploads cannot go to this bucket yet.">
              Mend what is refused below, then check again.
            </Notice>
          )}
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
          {check.policy && (
            <CodeBlock title="The least policy for these keys" code={check.policy} language="json" />
          )}
          {check.lifecycleRule && (
            <CodeBlock
              title="Lifecycle rule that clears unfinished uploads"
              code={check.lifecycleRule}
              language="json"
            />
          )}
        </div>
      )}
    </Panel>
  )
}
