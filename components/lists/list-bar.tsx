import { Download } from 'lucide-react'
import type { ReactNode } from 'react'
import { hrefOf } from '../shell/pager.tsx'
import { buttonLook } from '../ui/button.tsx'

/** Above a list: totals on the left, actions for the entire list on the right. Its page uses the full width. */
export function ListBar({ children }: { children: ReactNode }) {
  return (
    <div data-list className="mb-2 flex min-h-8 flex-wrap items-center justify-end gap-2">
      {children}
    </div>
  )
}

type Props = { path: string; query: Record<string, string | undefined> }

/** Links that export exactly the filtered items, from all pages. */
export function ExportLinks({ path, query }: Props) {
  const filters = { ...query, cursor: undefined, delivery: undefined }
  return (
    <span className="inline-flex gap-2">
      {(['csv', 'json'] as const).map((format) => (
        <a
          key={format}
          href={hrefOf(path, { ...filters, format })}
          download
          className={buttonLook({ tone: 'quiet' })}
          aria-label={`Export as ${format.toUpperCase()}`}
        >
          <Download aria-hidden />
          {format.toUpperCase()}
        </a>
      ))}
    </span>
  )
}
