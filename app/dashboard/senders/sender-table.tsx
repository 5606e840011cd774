import { formatBytes, formatCount } from '#components/format.ts'
import { Status } from '#components/ui/status.tsx'
import { NAME, NUMBER, RowLink, SOFT, SOFT_NUMBER, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Sender } from '#lib/workspace/senders/sender.ts'

type Props = { senders: Sender[]; groups: { id: string; name: string }[] }

export function SenderTable({ senders, groups }: Props) {
  const names = new Map(groups.map(({ id, name }) => [id, name]))
  return (
    <Table
      caption="Senders"
      terse
      rows={senders}
      columns={[
        ['Name', ({ id, name }) => <RowLink href={`/dashboard/senders/${id}`}>{name}</RowLink>, NAME],
        ['Status', (sender) => <SenderState sender={sender} />],
        ['Group', ({ groupId }) => groupId && names.get(groupId), SOFT],
        [
          'Refused',
          ({ refusedCount }) => (
            <>
              {formatCount(refusedCount)}
              <span className="@min-[44rem]:hidden"> refused</span>
            </>
          ),
          NUMBER,
        ],
        ['Transferred', ({ transferredBytes }) => formatBytes(transferredBytes), NUMBER],
        ['Last seen', (sender) => <LastSeen sender={sender} />, SOFT_NUMBER],
      ]}
    />
  )
}

export function LastSeen({ sender: { lastUsedAt, lastFileAt } }: { sender: Sender }) {
  const at = [lastUsedAt, lastFileAt]
    .filter((at) => at !== null)
    .sort()
    .at(-1)
  return at ? <Time at={at} /> : 'never used'
}

export function SenderState({ sender }: { sender: Sender }) {
  if (sender.revokedAt) return <Status state="revoked" />
  if (sender.exposedAt) return <Status state="exposed" label="exposed in a browser" />
  if (sender.isSilent) return <Status state="failing" label="silent" />
  return <Status state="active" />
}
