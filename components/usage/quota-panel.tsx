import { TriangleAlert } from 'lucide-react'
import type { Usage } from '#lib/workspace/usage/report-usage.ts'
import { formatBytes, formatDate, formatPercent } from '../format.ts'
import { Panel } from '../ui/panel.tsx'
import { Progress } from '../ui/progress.tsx'

/** Transfer used, transfer reserved for uploads in progress, and the limit with its reset date. */
export function QuotaPanel({ usage, past = false }: { usage: Usage; past?: boolean }) {
  const { usedBytes, reservedBytes, limitBytes, resetsAt } = usage
  const usedUp = !past && limitBytes !== null && usedBytes + reservedBytes >= limitBytes
  return (
    <Panel title={past ? 'Transfer that month' : 'Transfer this month'}>
      <p className="tnum font-semibold text-3xl tracking-[-0.03em]">{formatBytes(usedBytes)}</p>
      {limitBytes === null ? (
        <p className="mt-1 text-ink-soft text-sm">There is no limit.</p>
      ) : (
        <>
          <p className="mt-1 text-ink-soft text-sm">
            of {formatBytes(limitBytes)}, {formatPercent(usedBytes, limitBytes)}
          </p>
          <Progress
            className="mt-4"
            value={usedBytes}
            second={reservedBytes}
            max={limitBytes}
            label="Transfer used"
            tone={toneOf(usedBytes + reservedBytes, limitBytes)}
          />
        </>
      )}
      {usedUp && (
        <p className="mt-4 flex gap-2 text-bad text-sm">
          <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
          The quota is used up: new uploads get 403 until it resets.
        </p>
      )}
      {!past && (
        <p className="mt-4 space-y-0.5 text-ink-faint text-sm">
          {reservedBytes > 0 && (
            <span className="block">{formatBytes(reservedBytes)} reserved for uploads in progress</span>
          )}
          <span className="block">Resets on {formatDate(Date.parse(resetsAt))}</span>
        </p>
      )}
    </Panel>
  )
}

export function toneOf(bytes: number, limitBytes: number): 'water' | 'warn' | 'bad' {
  if (bytes >= limitBytes) return 'bad'
  return bytes >= limitBytes * 0.8 ? 'warn' : 'water'
}
