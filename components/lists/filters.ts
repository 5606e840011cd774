import type { Filter } from '../ui/filter-bar.tsx'

const DAY = /^\d{4}-\d\d-\d\d$/

/**
 * From the start of one day to the end of another, in UTC. Invalid dates are passed through and rejected by
 * validation.
 */
export function dayRange({ from, to }: Record<string, string | undefined>): {
  since?: string
  until?: string
} {
  return {
    ...(from && { since: DAY.test(from) ? `${from}T00:00:00Z` : from }),
    ...(to && { until: DAY.test(to) ? dayAfter(to) : to }),
  }
}

function dayAfter(day: string): string {
  const ms = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(ms) ? day : new Date(ms + 86_400_000).toISOString()
}

/** Time ranges in minutes before now, so that an address with a range stays useful as a bookmark. */
export const SPANS = [
  { value: '60', label: 'last hour' },
  { value: '1440', label: 'last day' },
  { value: '10080', label: 'last 7 days' },
  { value: '43200', label: 'last 30 days' },
  { value: '129600', label: 'last 90 days' },
]

export const pipeFilter = (pipes: { id: string; name: string }[]): Filter => ({
  kind: 'choice',
  name: 'pipeId',
  label: 'Pipe',
  options: pipes.map(({ id, name }) => ({ value: id, label: name })),
})
