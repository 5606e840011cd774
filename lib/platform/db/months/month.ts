import { firstUuidAt } from '../../kernel/ids.ts'

/** A calendar month in UTC, as a suffix of the tables that hold its rows: `2026_11`. */
export type Month = string

export const monthOf = (ms: number): Month => new Date(ms).toISOString().slice(0, 7).replace('-', '_')

export function nextMonth(month: Month): Month {
  const [year, number] = month.split('_').map(Number) as [number, number]
  return monthOf(Date.UTC(year, number))
}

export const startOf = (month: Month): number => Date.parse(`${month.replace('_', '-')}-01T00:00:00Z`)

/** The ids of that month: from the first, and before the second. */
export const idsOf = (month: Month): [from: string, before: string] => [
  firstUuidAt(startOf(month)),
  firstUuidAt(startOf(nextMonth(month))),
]

/** From the month after `last` on, or else from that of `nowMs`, the months up to the next one. */
export function missingMonths(last: Month | undefined, nowMs: number): Month[] {
  const months: Month[] = []
  const end = nextMonth(monthOf(nowMs))
  for (let month = last ? nextMonth(last) : monthOf(nowMs); month <= end; month = nextMonth(month))
    months.push(month)
  return months
}

/** All of the month is older than is kept. */
export const isOver = (month: Month, keptMs: number, nowMs: number): boolean =>
  startOf(nextMonth(month)) <= nowMs - keptMs
