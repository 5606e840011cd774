import { Summary } from '#components/ui/summary.tsx'

/** Longer details are folded, so that the log stays a list. */
const MOST_SHOWN = 100

/** The recorded details of a change: field names and plain values. */
export function AuditDetail({ detail }: { detail: Record<string, unknown> }) {
  const known = Object.entries(detail).filter(([, value]) => value !== null && value !== undefined)
  if (known.length === 0) return null
  const text = known.map(([name, value]) => `${name}: ${shown(value)}`).join(', ')
  if (text.length <= MOST_SHOWN) return <p className={TEXT}>{text}</p>
  return (
    <details className="group">
      <Summary className="text-ink-faint">
        <span className="min-w-0 truncate text-xs group-open:hidden">{text.slice(0, MOST_SHOWN)}…</span>
        <span className="hidden text-xs group-open:inline">Details</span>
      </Summary>
      <p className={TEXT}>{text}</p>
    </details>
  )
}

const TEXT = 'whitespace-normal text-ink-faint text-xs [overflow-wrap:anywhere]'

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).join(' ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
