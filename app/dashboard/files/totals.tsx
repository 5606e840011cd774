import { formatBytes, formatCount, plural } from '#components/format.ts'
import type { FileTotals } from '#lib/dashboard/files/list-files.ts'

/** The number and total size of matching files. If counting all of them is too slow, only the newest are included. */
export function Totals({ totals, order }: { totals: FileTotals | undefined; order: string | undefined }) {
  if (!totals) return null
  const { files, bytes, canceled, ofNewest } = totals
  const bySize = order === 'largest' || order === 'smallest'
  return (
    <p className="tnum mr-auto text-ink-faint text-sm">
      {plural(files, 'file')}, {formatBytes(bytes)}
      {canceled > 0 && `, and ${formatCount(canceled)} canceled`}
      {ofNewest !== null &&
        ` among the newest ${formatCount(ofNewest)}${bySize ? ' (only these are sorted)' : ''}; narrow the time range to see more`}
    </p>
  )
}
