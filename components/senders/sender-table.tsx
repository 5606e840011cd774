import Link from 'next/link'
import type { Sender } from '#lib/workspace/senders/sender.ts'
import { formatCount } from '../format.ts'
import { Row, Table, Td, Th } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { SenderState } from './sender-state.tsx'

export function SenderTable({ senders }: { senders: Sender[] }) {
  const head = (
    <>
      <Th>Name</Th>
      <Th>Status</Th>
      <Th>Token</Th>
      <Th className="text-right">Requests</Th>
      <Th className="text-right">Last used</Th>
    </>
  )
  return (
    <Table caption="Senders" head={head}>
      {senders.map((sender) => (
        <Row key={sender.id}>
          <Td long className="font-medium">
            <Link href={`/dashboard/senders/${sender.id}`} className="row-link">
              {sender.name}
            </Link>
          </Td>
          <Td label="Status">
            <SenderState sender={sender} />
          </Td>
          <Td label="Token" className="font-mono text-ink-soft text-xs">
            sk_…{sender.tokenLast4}
          </Td>
          <Td label="Requests" number>
            {formatCount(sender.requestCount)}
          </Td>
          <Td label="Last used" number className="text-ink-soft">
            {sender.lastUsedAt ? <Time at={sender.lastUsedAt} /> : 'never'}
          </Td>
        </Row>
      ))}
    </Table>
  )
}
