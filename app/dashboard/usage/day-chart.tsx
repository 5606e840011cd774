import { formatBytes, formatDate, formatShortDate } from '#components/format.ts'
import { BarChart } from '#components/ui/bar-chart.tsx'

/** Shows the entire month, so that days keep their place as the month progresses. */
export function DayChart({ days }: { days: { date: string; bytes: number }[] }) {
  const first = days[0]?.date
  if (!first) return null
  const startMs = Date.parse(first)
  const dates = Array.from({ length: daysOfMonth(first) }, (_, n) => startMs + n * 86_400_000)
  return (
    <BarChart
      caption="Transfer per day"
      slots={dates.map((atMs, n) => ({
        name: formatDate(atMs),
        // The last days of the month have no room for a date label.
        ...(n % 7 === 0 && n < 28 && { tick: formatShortDate(atMs) }),
      }))}
      series={[{ name: 'bytes', tone: 'water', values: dates.map((_, n) => days[n]?.bytes ?? 0) }]}
      format={formatBytes}
      whole
    />
  )
}

function daysOfMonth(date: string): number {
  const [year, month] = date.split('-').map(Number)
  return new Date(Date.UTC(year!, month!, 0)).getUTCDate()
}
