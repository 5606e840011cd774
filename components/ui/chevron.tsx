import { ChevronRight } from 'lucide-react'

/** At the head of `details` of the class `group`: it turns when they are opened. */
export function Chevron() {
  return (
    <ChevronRight className="size-3.5 text-ink-faint transition-transform group-open:rotate-90" aria-hidden />
  )
}
