'use client'

import { clsx } from 'clsx'
import { X } from 'lucide-react'
import { usePathname, useRouter, useSearchParams } from 'next/navigation'
import { type ReactNode, useEffect, useRef, useState, useTransition } from 'react'
import { SavedViews } from './saved-views.tsx'

export type Options = readonly (readonly [value: string, label: string])[]
type Choice = { kind: 'choice'; name: string; label: string; options: Options }
type Typed = { kind: 'text' | 'day'; name: string; label: string }
export type Filter = Choice | Typed

const box = 'h-8 rounded-md border border-line-strong bg-raised px-2.5 text-sm shadow-raised'

/** How many filters are always shown. The others are added when they are needed. */
const ALWAYS = 2
const DATES = 'Dates'

/** Filters are kept in the address, so that a view can be bookmarked, shared and returned to. */
export function FilterBar({ filters, children }: { filters: Filter[]; children?: ReactNode }) {
  const router = useRouter()
  const path = usePathname()
  const query = useSearchParams()
  const [busy, start] = useTransition()
  const [added, setAdded] = useState<string[]>([])
  const bar = useRef<HTMLElement>(null)
  const set = filters.some(({ name }) => query.has(name))
  const isLong = filters.length > ALWAYS + 1
  const days = filters.filter((filter) => filter.kind === 'day')
  const others = filters.filter((filter) => filter.kind !== 'day')
  const isShown = (...names: string[]) => names.some((name) => added.includes(name) || query.has(name))
  const showsDays = days.length > 0 && (!isLong || isShown(DATES, ...days.map(({ name }) => name)))
  const shown = others.filter(({ name }, n) => !isLong || n < ALWAYS || isShown(name))
  const hidden = others.filter((filter) => !shown.includes(filter))
  const addable = [
    ...hidden.map(({ name, label }) => ({ name, label })),
    ...(days.length > 0 && !showsDays ? [{ name: DATES, label: DATES }] : []),
  ]
  useEffect(() => {
    bar.current?.querySelector<HTMLElement>(`[data-filter="${added.at(-1)}"] :is(select, input)`)?.focus()
  }, [added])

  function apply(...changes: [name: string, value: string][]) {
    const next = new URLSearchParams(query)
    for (const gone of ['cursor', 'before', 'delivery']) next.delete(gone)
    for (const [name, value] of changes) {
      if (value) next.set(name, value)
      else next.delete(name)
    }
    start(() => router.push(next.size > 0 ? `${path}?${next}` : path, { scroll: false }))
  }
  function remove(name: string, ...names: string[]) {
    setAdded(added.filter((one) => one !== name))
    if (names.some((one) => query.has(one))) apply(...names.map((one): [string, string] => [one, '']))
  }
  const onApply = (name: string, value: string) => apply([name, value])

  return (
    <div className="mb-3 space-y-2" aria-busy={busy || undefined}>
      {isLong && <SavedViews canSave={set} />}
      <div className="flex flex-wrap items-center gap-2">
        <search ref={bar} className="flex flex-wrap items-center gap-2 max-sm:w-full">
          {shown.map((filter) => {
            const { name, label } = filter
            const given = { value: query.get(name) ?? '', onApply }
            const isAdded = isLong && others.indexOf(filter) >= ALWAYS
            return (
              <Chip
                key={name}
                name={name}
                label={label}
                isWide={filter.kind === 'text'}
                onRemove={isAdded && (() => remove(name, name))}
              >
                {filter.kind === 'choice' ? (
                  <ChoiceFilter filter={filter} {...given} />
                ) : (
                  <TextFilter filter={filter} {...given} />
                )}
              </Chip>
            )
          })}
          {showsDays && (
            <Chip
              name={DATES}
              label={DATES}
              isWide
              onRemove={isLong && (() => remove(DATES, ...days.map(({ name }) => name)))}
            >
              <span className="flex gap-2 max-sm:grow max-sm:flex-wrap">
                {days.map(({ name, label }) => (
                  <DayFilter
                    key={name}
                    name={name}
                    label={label}
                    value={query.get(name) ?? ''}
                    onApply={onApply}
                  />
                ))}
              </span>
            </Chip>
          )}
          {addable.length > 0 && (
            <select
              aria-label="Add a filter"
              value=""
              onChange={(event) => setAdded([...added, event.target.value])}
              className="select-arrow h-8 rounded-md border border-line border-dashed bg-transparent px-2.5 pr-7 text-ink-soft text-sm"
            >
              <option value="">Add filter</option>
              {addable.map(({ name, label }) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </select>
          )}
          {set && (
            <button
              type="button"
              onClick={() => {
                setAdded([])
                start(() => router.push(path, { scroll: false }))
              }}
              className="inline-flex h-8 items-center gap-1 rounded-md px-2 text-ink-faint text-sm hover:bg-hover hover:text-ink"
            >
              <X className="size-3.5" aria-hidden />
              Clear
            </button>
          )}
        </search>
        <div className="ml-auto flex gap-2">{children}</div>
      </div>
    </div>
  )
}

type ChipProps = {
  name: string
  label: string
  isWide?: boolean
  onRemove: false | (() => void)
  children: ReactNode
}

/** A filter, which can be taken away again if it was added. */
function Chip({ name, label, isWide = false, onRemove, children }: ChipProps) {
  return (
    <span
      data-filter={name}
      className={clsx(
        'inline-flex min-w-0 items-center',
        isWide ? 'max-sm:w-full' : 'max-sm:min-w-[45%] max-sm:flex-1',
      )}
    >
      {children}
      {onRemove && (
        <button
          type="button"
          aria-label={`Remove the filter ${label}`}
          onClick={onRemove}
          className="ml-0.5 rounded-md p-1.5 text-ink-faint hover:bg-hover hover:text-ink"
        >
          <X className="size-3.5" aria-hidden />
        </button>
      )}
    </span>
  )
}

type Given<Kind> = { filter: Kind; value: string; onApply: (name: string, value: string) => void }

function ChoiceFilter({ filter, value, onApply }: Given<Choice>) {
  return (
    <select
      aria-label={filter.label}
      value={value}
      onChange={(event) => onApply(filter.name, event.target.value)}
      className={`${box} select-arrow max-w-44 pr-7 max-sm:min-w-0 max-sm:max-w-full max-sm:flex-1`}
    >
      <option value="">{filter.label}: any</option>
      {filter.options.map(([value, label]) => (
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
      className={`${box} w-56 max-sm:w-full`}
    />
  )
}
