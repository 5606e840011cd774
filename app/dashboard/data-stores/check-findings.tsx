import { CodeBlock } from '#components/ui/code-block.tsx'
import { Findings } from '#components/ui/findings.tsx'
import { Summary } from '#components/ui/summary.tsx'
import type { BucketCheck } from '#drizzle/schema/index.ts'

/** The optional operations; uploads need all the others. */
const OPTIONAL = new Set([
  ...['AbortMultipartUpload', 'GetObject', 'UploadPartCopy', 'DeleteObject'],
  ...['GetBlob', 'DeleteBlob'],
])

export const isOptional = (name: string): boolean => OPTIONAL.has(name)

/** What the check found, with the minimal policy and a lifecycle rule to paste into the provider's console. */
export function CheckFindings({ check }: { check: Omit<BucketCheck, 'checkedAt'> }) {
  const { policy, lifecycleRule } = check
  const findings = check.operations.map(({ name, ok, message: text }) => {
    const tone = ok ? 'good' : check.ok && isOptional(name) ? 'calm' : 'bad'
    return { name, tone, said: ok ? 'works' : 'does not work', text } as const
  })
  return (
    <>
      <Findings findings={findings} />
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
