import type { Range } from '#lib/dashboard/overview/read-figures.ts'

export const RANGE_NAMES: Record<Range, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
}

/** As the filters of the lists take them. */
export const RANGE_MINUTES: Record<Range, string> = {
  '24h': '1440',
  '7d': '10080',
  '30d': '43200',
  '90d': '129600',
}

export function rangeOf(text: string | undefined): Range {
  return text !== undefined && Object.hasOwn(RANGE_NAMES, text) ? (text as Range) : '24h'
}
