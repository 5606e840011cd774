import type { BucketCheck } from '#drizzle/schema/index.ts'
import { CodeBlock } from '../ui/code-block.tsx'

/** What to paste at the provider, for who needs it. */
export function LeastPolicy({ check }: { check: Pick<BucketCheck, 'policy' | 'lifecycleRule'> }) {
  const { policy, lifecycleRule } = check
  return (
    <>
      {policy && <Folded title="The minimal policy for these keys" code={policy} />}
      {lifecycleRule && <Folded title="Lifecycle rule that clears unfinished uploads" code={lifecycleRule} />}
    </>
  )
}

function Folded({ title, code }: { title: string; code: string }) {
  return (
    <details className="rounded-md border">
      <summary className="cursor-pointer rounded-md px-3 py-2 font-medium text-sm hover:bg-hover">
        {title}
      </summary>
      <div className="p-3 pt-1">
        <CodeBlock code={code} language="json" />
      </div>
    </details>
  )
}
