import { minutes, timeAgo } from '#lib/platform/kernel/clock.ts'
import type { Filter, Options } from '../ui/filter-bar.tsx'

const DAY = /^\d{4}-\d\d-\d\d$/

/** From the start of one day to the end of another, in UTC. Invalid dates are passed on, and fail validation. */
export function dayRange({ from, to }: Record<string, string | undefined>): {
  since?: string
  until?: string
} {
  return {
    ...(from && { since: DAY.test(from) ? `${from}T00:00:00Z` : from }),
    ...(to && { until: DAY.test(to) ? dayAfter(to) : to }),
  }
}

/** The same for a list that can also be limited to a time range before now. */
export function periodOf(query: Record<string, string | undefined>, nowMs: number) {
  const within = Number(query.within)
  return { ...(within > 0 && { since: timeAgo(nowMs, minutes(within)) }), ...dayRange(query) }
}

function dayAfter(day: string): string {
  const ms = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(ms) ? day : new Date(ms + 86_400_000).toISOString()
}

export const choiceFilter = (name: string, label: string, options: Options): Filter => ({
  kind: 'choice',
  name,
  label,
  options,
})

type Named = { id: string; name: string }

/** Offers items by their names. */
export const itemFilter = (name: string, label: string, items: Named[]): Filter =>
  choiceFilter(
    name,
    label,
    items.map(({ id, name }) => [id, name] as const),
  )

export const pipeFilter = (pipes: Named[]): Filter => itemFilter('pipeId', 'Pipe', pipes)

/** Time ranges in minutes before now, so that an address with a range stays useful as a bookmark. */
export const SPAN_FILTER: Filter = choiceFilter('within', 'Time', [
  ['60', 'last hour'],
  ['1440', 'last day'],
  ['10080', 'last 7 days'],
  ['43200', 'last 30 days'],
  ['129600', 'last 90 days'],
])

export const DAY_FILTERS: Filter[] = [
  { kind: 'day', name: 'from', label: 'From' },
  { kind: 'day', name: 'to', label: 'to' },
]
