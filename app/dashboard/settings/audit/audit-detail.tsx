const MOST_TEXT = 200

/** The recorded details of a change: field names and plain values. */
export function AuditDetail({ detail }: { detail: Record<string, unknown> }) {
  const known = Object.entries(detail).filter(([, value]) => value !== null && value !== undefined)
  if (known.length === 0) return null
  const text = known.map(([name, value]) => `${name}: ${shown(value)}`).join(', ')
  return (
    <span className="block truncate text-ink-faint text-xs" title={text}>
      {text.slice(0, MOST_TEXT)}
    </span>
  )
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).join(' ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
