import { clsx } from 'clsx'
import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'

/** The summary of a `details` with class `group`, with an arrow that turns once it is open. */
export function Summary({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <summary
      className={clsx(
        'flex items-center gap-1.5 rounded-md text-sm [&::-webkit-details-marker]:hidden',
        className,
      )}
    >
      <ChevronRight
        className="size-3.5 shrink-0 text-ink-faint transition-transform group-open:rotate-90"
        aria-hidden
      />
      {children}
    </summary>
  )
}
