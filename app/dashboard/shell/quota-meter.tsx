import Link from 'next/link'
import { formatBytes } from '#components/format.ts'
import { Progress } from '#components/ui/progress.tsx'
import { toneOf } from '#components/usage/quota-panel.tsx'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { reportUsage } from '#lib/workspace/usage/report-usage.ts'

export async function QuotaMeter({ actor }: { actor: Actor }) {
  const { usedBytes, reservedBytes, limitBytes } = await reportUsage(getRuntime(), actor, {})
  if (limitBytes === null) return null
  return (
    <Link href="/dashboard/usage" className="block rounded-md px-2.5 py-2 hover:bg-hover">
      <span className="flex justify-between text-ink-faint text-xs">
        <span>This month</span>
        <span className="tnum">
          {formatBytes(usedBytes)} of {formatBytes(limitBytes)}
        </span>
      </span>
      <Progress
        className="mt-1.5 h-1"
        value={usedBytes}
        second={reservedBytes}
        max={limitBytes}
        label="Transfer used this month"
        tone={toneOf(usedBytes + reservedBytes, limitBytes)}
      />
    </Link>
  )
}
