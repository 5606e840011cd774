import type { Range } from '#lib/dashboard/overview/read-figures.ts'
import { formatDate, formatShortDate } from '../format.ts'

/** How many slots lie between two that are named below the chart. */
const EVERY: Record<Range, number> = { '24h': 6, '7d': 4, '30d': 7, '90d': 15 }

/** What a slot is called, in full and below the chart: hours by their time, all else by its date, in UTC. */
export function slotNames(range: Range, slots: { at: string }[]): { name: string; tick?: string }[] {
  const hourly = range === '24h' || range === '7d'
  const first = range === '7d' ? slots.findIndex(({ at }) => at.slice(11, 13) === '00') : 0
  return slots.map(({ at }, n) => {
    const atMs = Date.parse(at)
    const named = n >= first && (n - first) % EVERY[range] === 0
    const tick = range === '24h' ? at.slice(11, 16) : formatShortDate(atMs)
    return {
      name: hourly ? `${formatDate(atMs)}, ${at.slice(11, 16)} UTC` : formatDate(atMs),
      ...(named && { tick }),
    }
  })
}
