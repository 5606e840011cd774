import { ChevronRight } from 'lucide-react'

/** For the summary of a `details` with class `group`: rotates when opened. */
export function Chevron() {
  return (
    <ChevronRight className="size-3.5 text-ink-faint transition-transform group-open:rotate-90" aria-hidden />
  )
}
