import { formatCount } from '#components/format.ts'
import { Status } from '#components/ui/status.tsx'
import { NAME, NUMBER, RowLink, SOFT_NUMBER, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Sender } from '#lib/workspace/senders/sender.ts'

export function SenderTable({ senders }: { senders: Sender[] }) {
  return (
    <Table
      caption="Senders"
      rows={senders}
      rowKey={({ id }) => id}
      columns={[
        ['Name', ({ id, name }) => <RowLink href={`/dashboard/senders/${id}`}>{name}</RowLink>, NAME],
        ['Status', (sender) => <SenderState sender={sender} />],
        ['Token', ({ tokenLast4 }) => `sk_…${tokenLast4}`, { className: 'font-mono text-ink-soft text-xs' }],
        ['Requests', ({ requestCount }) => formatCount(requestCount), NUMBER],
        ['Last used', ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never'), SOFT_NUMBER],
      ]}
    />
  )
}

export function SenderState({ sender }: { sender: Sender }) {
  if (sender.revokedAt) return <Status state="revoked" />
  if (sender.exposedAt) return <Status state="exposed" label="exposed in a browser" />
  return <Status state="active" />
}
