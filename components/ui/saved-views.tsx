'use client'

import { clsx } from 'clsx'
import { Bookmark, X } from 'lucide-react'
import Link from 'next/link'
import { usePathname, useSearchParams } from 'next/navigation'
import { useEffect, useState } from 'react'

type View = { name: string; query: string }

const keyOf = (path: string) => `sluice-views ${path}`

function readViews(path: string): View[] {
  try {
    return JSON.parse(localStorage.getItem(keyOf(path)) ?? '[]')
  } catch {
    return []
  }
}

/** Views of a list that this browser keeps: a name, and the filters in the address. */
export function SavedViews({ canSave }: { canSave: boolean }) {
  const path = usePathname()
  const params = new URLSearchParams(useSearchParams())
  for (const name of ['cursor', 'before', 'delivery']) params.delete(name)
  const query = params.toString()
  const [views, setViews] = useState<View[]>([])
  const [isNaming, setNaming] = useState(false)
  useEffect(() => setViews(readViews(path)), [path])
  const current = views.find((view) => view.query === query)
  if (views.length === 0 && !canSave) return null

  function keep(next: View[]) {
    setViews(next)
    localStorage.setItem(keyOf(path), JSON.stringify(next))
  }
  function save(form: FormData) {
    const name = String(form.get('name')).trim()
    setNaming(false)
    if (name) keep([...views.filter((view) => view.name !== name), { name, query }])
  }

  return (
    <div className="flex flex-wrap items-center gap-1.5 text-sm">
      {views.map((view) => (
        <Link
          key={view.name}
          href={`${path}?${view.query}`}
          prefetch={false}
          aria-current={view === current ? 'page' : undefined}
          className={clsx(
            'rounded-full border px-2.5 py-0.5',
            view === current
              ? 'border-water bg-water-soft text-water'
              : 'text-ink-soft hover:bg-hover hover:text-ink',
          )}
        >
          {view.name}
        </Link>
      ))}
      {current && (
        <button
          type="button"
          onClick={() => keep(views.filter((view) => view !== current))}
          className="inline-flex items-center gap-1 rounded-md px-2 py-0.5 text-ink-faint hover:bg-hover hover:text-ink"
        >
          <X className="size-3.5" aria-hidden />
          Delete view
        </button>
      )}
      {canSave && !current && !isNaming && (
        <button
          type="button"
          onClick={() => setNaming(true)}
          className="inline-flex items-center gap-1 rounded-md px-2 py-0.5 text-ink-faint hover:bg-hover hover:text-ink"
        >
          <Bookmark className="size-3.5" aria-hidden />
          Save view
        </button>
      )}
      {isNaming && (
        <form action={save} className="flex gap-1.5">
          <input
            ref={(field) => field?.focus()}
            name="name"
            aria-label="Name of the view"
            placeholder="Name, kept in this browser"
            maxLength={40}
            className="h-7 rounded-md border border-line-strong bg-raised px-2"
          />
          <button type="submit" className="rounded-md px-2 text-water hover:bg-hover">
            Save
          </button>
        </form>
      )}
    </div>
  )
}
