import { Download } from 'lucide-react'
import { formatBytes, formatDate, formatPercent, formatShortDate } from '#components/format.ts'
import { PageHeader } from '#components/shell/page-header.tsx'
import { BarChart } from '#components/ui/bar-chart.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { NAME, NUMBER, RowLink, SOFT_NUMBER, Table } from '#components/ui/table.tsx'
import { QuotaPanel } from '#components/usage/quota-panel.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { formatMonth } from '#lib/workspace/usage/format-month.ts'
import { reportPipeUsage, reportUsage, usageQuery } from '#lib/workspace/usage/report-usage.ts'
import { currentActor } from '../../session.ts'
import { readSearch, type Search } from '../page-query.ts'
import { MonthPicker } from './month-picker.tsx'

export const metadata = { title: 'Usage' }

export default async function UsagePage({ searchParams }: { searchParams: Search }) {
  const { month } = await readSearch(searchParams)
  const actor = await currentActor('see')
  // An invalid month is treated as the current one.
  const query = usageQuery.catch({}).parse({ month })
  const [usage, pipes] = await Promise.all([
    reportUsage(getRuntime(), actor, query),
    reportPipeUsage(getRuntime(), actor, query),
  ])
  return (
    <>
      <PageHeader
        title="Usage"
        description="Each byte counts once, when it is accepted. Bytes that a client sends again are not counted again."
        actions={
          <>
            <MonthPicker month={usage.month} nowMs={getRuntime().clock.now()} />
            <a
              href={`/dashboard/usage/csv?month=${usage.month}`}
              download
              className="inline-flex h-8 items-center gap-2 rounded-md border border-line-strong bg-raised px-3 font-medium text-sm shadow-raised hover:bg-hover"
            >
              <Download className="size-4" aria-hidden />
              CSV
            </a>
          </>
        }
      />
      <div className="mb-5 grid gap-5 lg:grid-cols-[20rem_1fr]">
        <QuotaPanel usage={usage} past={Date.parse(usage.resetsAt) <= getRuntime().clock.now()} />
        <Panel title="Per day" description={formatMonth(usage.month)}>
          <DayChart days={usage.days} />
        </Panel>
      </div>
      {pipes.length > 0 && (
        <Table
          caption="Transfer per Pipe"
          rows={pipes}
          rowKey={({ pipeId }) => pipeId}
          columns={[
            [
              'Pipe',
              ({ pipeId, name }) => <RowLink href={`/dashboard/pipes/${pipeId}`}>{name ?? pipeId}</RowLink>,
              NAME,
            ],
            ['Transfer', ({ bytes }) => formatBytes(bytes), NUMBER],
            ['Share', ({ bytes }) => formatPercent(bytes, usage.usedBytes), SOFT_NUMBER],
          ]}
        />
      )}
    </>
  )
}

/** Shows the entire month, so that days keep their place as the month progresses. */
function DayChart({ days }: { days: { date: string; bytes: number }[] }) {
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
