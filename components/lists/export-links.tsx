import { Download } from 'lucide-react'
import { hrefOf } from '../shell/pager.tsx'
import { buttonLook } from '../ui/button.tsx'

type Props = { path: string; query: Record<string, string | undefined> }

/** Exactly what the filters leave, all pages of it. */
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
