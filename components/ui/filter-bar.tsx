'use client'

import { X } from 'lucide-react'
import { usePathname, useRouter, useSearchParams } from 'next/navigation'
import { type ReactNode, useEffect, useRef, useState, useTransition } from 'react'

type Option = { value: string; label: string }
type Choice = { kind: 'choice'; name: string; label: string; options: Option[] }
type Typed = { kind: 'text' | 'day'; name: string; label: string }
export type Filter = Choice | Typed

const box = 'h-8 rounded-md border border-line-strong bg-raised px-2.5 text-sm shadow-raised'

/** Filters are kept in the address, so that a view can be bookmarked, shared and returned to. */
export function FilterBar({ filters, children }: { filters: Filter[]; children?: ReactNode }) {
  const router = useRouter()
  const path = usePathname()
  const query = useSearchParams()
  const [busy, start] = useTransition()
  const set = filters.some(({ name }) => query.has(name))
  const days = filters.filter(({ kind }) => kind === 'day')

  function apply(name: string, value: string) {
    const next = new URLSearchParams(query)
    for (const gone of ['cursor', 'before', 'delivery']) next.delete(gone)
    if (value) next.set(name, value)
    else next.delete(name)
    start(() => router.push(next.size > 0 ? `${path}?${next}` : path, { scroll: false }))
  }

  return (
    <div className="mb-3 flex flex-wrap items-center gap-2" aria-busy={busy || undefined}>
      <search className="flex flex-wrap items-center gap-2 max-sm:w-full">
        {filters.map((filter) => {
          const { name } = filter
          const given = { value: query.get(name) ?? '', onApply: apply }
          if (filter.kind === 'choice') return <ChoiceFilter key={name} filter={filter} {...given} />
          return filter.kind === 'text' && <TextFilter key={name} filter={filter} {...given} />
        })}
        {days.length > 0 && (
          <span className="flex gap-2 max-sm:w-full max-sm:flex-wrap">
            {days.map(({ name, label }) => (
              <DayFilter key={name} name={name} label={label} value={query.get(name) ?? ''} onApply={apply} />
            ))}
          </span>
        )}
        {set && (
          <button
            type="button"
            onClick={() => start(() => router.push(path, { scroll: false }))}
            className="inline-flex h-8 items-center gap-1 rounded-md px-2 text-ink-faint text-sm hover:bg-hover hover:text-ink"
          >
            <X className="size-3.5" aria-hidden />
            Clear
          </button>
        )}
      </search>
      <div className="ml-auto flex gap-2">{children}</div>
    </div>
  )
}

type Given<Kind> = { filter: Kind; value: string; onApply: (name: string, value: string) => void }

function ChoiceFilter({ filter, value, onApply }: Given<Choice>) {
  return (
    <select
      aria-label={filter.label}
      value={value}
      onChange={(event) => onApply(filter.name, event.target.value)}
      className={`${box} select-arrow max-w-44 pr-7 max-sm:max-w-full max-sm:flex-1`}
    >
      <option value="">{filter.label}: any</option>
      {filter.options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

type Day = { name: string; label: string; value: string; onApply: (name: string, value: string) => void }

function DayFilter({ name, label, value, onApply }: Day) {
  return (
    <label className="inline-flex items-center gap-1.5 text-ink-faint text-sm max-sm:flex-1">
      {label}
      <input
        type="date"
        value={value}
        onChange={(event) => onApply(name, event.target.value)}
        className={`${box} text-ink max-sm:flex-1`}
      />
    </label>
  )
}

const REST_MS = 300

function TextFilter({ filter, value, onApply }: Given<Typed>) {
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const applied = useRef(value)
  // The address lags behind the input, so only address changes from elsewhere are copied into the input.
  useEffect(() => {
    if (timer.current === undefined && value !== applied.current) setText(value)
    applied.current = value
  }, [value])

  function type(typed: string) {
    setText(typed)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      timer.current = undefined
      applied.current = typed.trim()
      onApply(filter.name, applied.current)
    }, REST_MS)
  }

  return (
    <input
      type="search"
      aria-label={filter.label}
      placeholder={filter.label}
      value={text}
      onChange={(event) => type(event.target.value)}
      className={`${box} w-48 max-sm:w-full`}
    />
  )
}
