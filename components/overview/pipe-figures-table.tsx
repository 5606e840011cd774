import Link from 'next/link'
import type { PipeFigures, Range } from '#lib/dashboard/overview/read-figures.ts'
import { formatBytes, formatCount, formatPercent } from '../format.ts'
import { hrefOf } from '../shell/pager.tsx'
import { Row, Table, Td, Th } from '../ui/table.tsx'

/** The busiest Pipes; each leads to its own figures. */
export function PipeFiguresTable({ pipes, range }: { pipes: PipeFigures[]; range: Range }) {
  const head = (
    <>
      <Th>Pipe</Th>
      <Th className="text-right">Files</Th>
      <Th className="text-right">Success</Th>
      <Th className="text-right">Transfer</Th>
    </>
  )
  return (
    <Table caption="By Pipe" head={head}>
      {pipes.map(({ pipeId, name, transferred, lost, bytes }) => (
        <Row key={pipeId}>
          <Td long className="font-medium">
            <Link href={hrefOf('/dashboard', { range, pipeId })} scroll={false} className="row-link">
              {name ?? pipeId}
            </Link>
          </Td>
          <Td label="Files" number>
            {formatCount(transferred)}
          </Td>
          <Td label="Success" number className="text-ink-soft">
            {formatPercent(transferred, transferred + lost)}
          </Td>
          <Td label="Transfer" number>
            {formatBytes(bytes)}
          </Td>
        </Row>
      ))}
    </Table>
  )
}
