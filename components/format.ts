/** Sizes, counts and times for display. Sizes are decimal, like the quota and provider bills. */
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return `${Number(value.toFixed(digits))} ${UNITS[unit]}`
}

/** The units that forms offer for sizes. */
export const UNIT_BYTES = { MB: 1e6, GB: 1e9, TB: 1e12 } as const
export type Unit = keyof typeof UNIT_BYTES

/** The largest unit in which the size is a whole number; MB if there is none. */
export function inUnit(bytes: number): { amount: number; unit: Unit } {
  const unit = bytes % UNIT_BYTES.TB === 0 ? 'TB' : bytes % UNIT_BYTES.GB === 0 ? 'GB' : 'MB'
  return { amount: bytes / UNIT_BYTES[unit], unit }
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** A count that stops at `most`: `1,000 or more` */
export function formatUpTo(count: number, most: number): string {
  return count >= most ? `${formatCount(most)} or more` : formatCount(count)
}

/** `1 file`, `2 files` */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

const STEPS = [
  { limitMs: 60_000, unitMs: 1000, unit: 's' },
  { limitMs: 3_600_000, unitMs: 60_000, unit: 'min' },
  { limitMs: 86_400_000, unitMs: 3_600_000, unit: 'h' },
  { limitMs: 30 * 86_400_000, unitMs: 86_400_000, unit: 'd' },
]

/**
 * `12 s ago`, `in 3 h`; the date if it is 30 days away or more. Ages are rounded down, but what remains is rounded to
 * the nearest unit, so that seven days are not six a moment later.
 */
export function formatRelative(atMs: number, nowMs: number): string {
  const distance = Math.abs(nowMs - atMs)
  if (distance < 5000) return 'just now'
  const round = atMs > nowMs ? Math.round : Math.floor
  const step = STEPS.find(({ limitMs, unitMs }) => round(distance / unitMs) * unitMs < limitMs)
  if (!step) return formatDate(atMs)
  const text = `${round(distance / step.unitMs)} ${step.unit}`
  return atMs > nowMs ? `in ${text}` : `${text} ago`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `21 Nov 2026`, in UTC like every time in Sluice. */
export function formatDate(atMs: number): string {
  const date = new Date(atMs)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}

/** `21 Nov` */
export function formatShortDate(atMs: number): string {
  const date = new Date(atMs)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
}

/** `21 Nov 2026, 08:24:11 UTC` */
export function formatExact(atMs: number): string {
  return `${formatDate(atMs)}, ${new Date(atMs).toISOString().slice(11, 19)} UTC`
}

/** `21 Nov 2026, 09:24:11`, in the viewer's time zone. */
export function formatLocal(atMs: number): string {
  const date = new Date(atMs)
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()]
  const day = `${date.getDate()} ${MONTHS[date.getMonth()]} ${date.getFullYear()}`
  return `${day}, ${time.map((part) => String(part).padStart(2, '0')).join(':')}`
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.round(ms / 60_000)
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function formatPercent(part: number, whole: number): string {
  if (whole <= 0) return '0%'
  const percent = Math.min(100, (part / whole) * 100)
  return `${percent > 0 && percent < 1 ? '<1' : Math.floor(percent)}%`
}
