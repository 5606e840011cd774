import type { PipeFigures, Range } from '#lib/dashboard/overview/read-figures.ts'
import { formatBytes, formatCount, formatPercent } from '../format.ts'
import { hrefOf } from '../shell/pager.tsx'
import { NAME, NUMBER, RowLink, SOFT_NUMBER, Table } from '../ui/table.tsx'

/** The busiest Pipes; each leads to its own figures. */
export function PipeFiguresTable({ pipes, range }: { pipes: PipeFigures[]; range: Range }) {
  return (
    <Table
      caption="By Pipe"
      rows={pipes}
      rowKey={({ pipeId }) => pipeId}
      columns={[
        [
          'Pipe',
          ({ pipeId, name }) => (
            <RowLink href={hrefOf('/dashboard', { range, pipeId })} scroll={false}>
              {name ?? pipeId}
            </RowLink>
          ),
          NAME,
        ],
        ['Files', ({ transferred }) => formatCount(transferred), NUMBER],
        ['Success', ({ transferred, lost }) => formatPercent(transferred, transferred + lost), SOFT_NUMBER],
        ['Transfer', ({ bytes }) => formatBytes(bytes), NUMBER],
      ]}
    />
  )
}
