/** The headers of a request or of a response. */
export function HeaderList({ headers }: { headers: Record<string, string> }) {
  return (
    <dl className="space-y-0.5 font-mono text-xs">
      {Object.entries(headers).map(([name, value]) => (
        <div key={name} className="flex flex-wrap gap-x-2">
          <dt className="text-ink-faint">{name}:</dt>
          <dd className="min-w-0 break-all">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
