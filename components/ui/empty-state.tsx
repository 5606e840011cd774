import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

type Props = { icon: LucideIcon; title: string; children: ReactNode; action?: ReactNode }

/** Explains what the feature is for and offers one action. */
export function EmptyState({ icon: Icon, title, children, action }: Props) {
  return (
    <div className="flex flex-col items-center rounded-lg border border-line-strong border-dashed px-6 py-14 text-center">
      <span className="grid size-10 place-items-center rounded-lg bg-water-soft text-water">
        <Icon className="size-5" aria-hidden />
      </span>
      <h2 className="mt-4 font-semibold text-lg">{title}</h2>
      <p className="mt-1 max-w-md text-ink-soft text-sm">{children}</p>
      {action && <div className="mt-5">{action}</div>}
    </div>
  )
}
