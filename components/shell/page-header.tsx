import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'

type Props = {
  title: ReactNode
  description?: ReactNode
  back?: { href: string; label: string }
  beside?: ReactNode
  actions?: ReactNode
}

export function PageHeader({ title, description, back, beside, actions }: Props) {
  return (
    <header className="mb-6">
      {back && (
        <Link
          href={back.href}
          className="-ml-1 mb-2 inline-flex items-center gap-0.5 rounded-md pr-1.5 text-ink-faint text-sm hover:text-ink"
        >
          <ChevronLeft className="size-4" aria-hidden />
          {back.label}
        </Link>
      )}
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-72">
          <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="min-w-0 break-words font-semibold text-2xl tracking-[-0.02em]">{title}</h1>
            {beside}
          </div>
          {description && <div className="mt-1 max-w-2xl text-ink-soft text-sm">{description}</div>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
    </header>
  )
}
