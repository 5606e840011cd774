import type { Figures, Range } from '#lib/dashboard/overview/read-figures.ts'
import { formatBytes, formatCount } from '../format.ts'
import { BarChart } from '../ui/bar-chart.tsx'
import { type Filter, FilterBar } from '../ui/filter-bar.tsx'
import { Panel } from '../ui/panel.tsx'
import { FigureTiles } from './figure-tiles.tsx'
import { PipeFiguresTable } from './pipe-figures-table.tsx'
import { RangePicker } from './range-picker.tsx'
import { RANGE_NAMES } from './ranges.ts'
import { slotNames } from './slot-names.ts'

type Props = {
  figures: Figures
  range: Range
  pipeId: string | undefined
  pipes: { id: string; name: string }[]
}

export function FiguresSection({ figures, range, pipeId, pipes }: Props) {
  const { slots } = figures
  const names = slotNames(range, slots)
  const span = `Last ${RANGE_NAMES[range]}, in UTC.`
  const filter: Filter = {
    kind: 'choice',
    name: 'pipeId',
    label: 'Pipe',
    options: pipes.map(({ id, name }) => ({ value: id, label: name })),
  }
  return (
    <section aria-label="Figures">
      <FilterBar filters={[filter]}>
        <RangePicker range={range} pipeId={pipeId} />
      </FilterBar>
      <div className="space-y-5">
        <FigureTiles figures={figures} range={range} pipeId={pipeId} />
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
          <Panel title="Transfer" description={span}>
            <BarChart
              caption="Transfer"
              slots={names}
              series={[{ name: 'bytes', tone: 'water', values: slots.map(({ bytes }) => bytes) }]}
              format={formatBytes}
              whole
            />
          </Panel>
        </div>
        {!pipeId && figures.pipes.length > 0 && <PipeFiguresTable pipes={figures.pipes} range={range} />}
      </div>
    </section>
  )
}
