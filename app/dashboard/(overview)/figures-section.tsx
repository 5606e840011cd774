import { formatBytes, formatCount, formatDate, formatShortDate } from '#components/format.ts'
import { pipeFilter } from '#components/lists/filters.ts'
import { BarChart } from '#components/ui/bar-chart.tsx'
import { FilterBar } from '#components/ui/filter-bar.tsx'
import { Panel } from '#components/ui/panel.tsx'
import type { Figures, Range } from '#lib/dashboard/overview/read-figures.ts'
import { FigureTiles } from './figure-tiles.tsx'
import { RANGES, RangePicker } from './ranges.tsx'

type Props = {
  figures: Figures
  range: Range
  pipeId: string | undefined
  /** The Pipes to choose from, except on the page of one. */
  pipes?: { id: string; name: string }[]
}

export function FiguresSection({ figures, range, pipeId, pipes }: Props) {
  const { slots } = figures
  const names = slotNames(range, slots)
  const hasEnded = slots.some(({ transferred, lost }) => transferred + lost > 0)
  const span = `Last ${RANGES[range].name}, in UTC.`
  return (
    <section aria-label="Figures">
      {pipes ? (
        <FilterBar filters={[pipeFilter(pipes)]}>
          <RangePicker range={range} path="/dashboard" query={{ pipeId }} />
        </FilterBar>
      ) : (
        <div className="mb-3 flex justify-end">
          <RangePicker range={range} path={`/dashboard/pipes/${pipeId}`} />
        </div>
      )}
      <div className="space-y-5">
        <FigureTiles figures={figures} range={range} pipeId={pipeId} />
        {hasEnded && (
          <div className="grid gap-5 lg:grid-cols-2">
            <Panel title="Files" description={span}>
              <BarChart
                caption="Files"
                slots={names}
                series={[
                  { name: 'transferred', tone: 'water', values: slots.map(({ transferred }) => transferred) },
                  { name: 'failed or expired', tone: 'bad', values: slots.map(({ lost }) => lost) },
                ]}
                format={formatCount}
                whole
              />
            </Panel>
            <Panel title="Bytes of transferred files" description={span}>
              <BarChart
                caption="Bytes of transferred files"
                slots={names}
                series={[{ name: 'bytes', tone: 'water', values: slots.map(({ bytes }) => bytes) }]}
                format={formatBytes}
                whole
              />
            </Panel>
          </div>
        )}
      </div>
    </section>
  )
}

/** Each slot's full name and its label below the chart, in UTC: with the time for hourly slots, otherwise the date. */
function slotNames(range: Range, slots: { at: string }[]): { name: string; tick?: string }[] {
  const hourly = range === '24h' || range === '7d'
  const first = range === '7d' ? slots.findIndex(({ at }) => at.slice(11, 13) === '00') : 0
  return slots.map(({ at }, n) => {
    const atMs = Date.parse(at)
    const named = n >= first && (n - first) % RANGES[range].tickEvery === 0
    const tick = range === '24h' ? at.slice(11, 16) : formatShortDate(atMs)
    return {
      name: hourly ? `${formatDate(atMs)}, ${at.slice(11, 16)} UTC` : formatDate(atMs),
      ...(named && { tick }),
    }
  })
}
