import { Boxes } from 'lucide-react'
import { formatBytes, formatCount } from '#components/format.ts'
import { PageHeader } from '#components/shell/page-header.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { NAME, NUMBER, RowLink, SOFT_NUMBER, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listGroups } from '#lib/workspace/senders/sender-groups.ts'
import { currentActor } from '../../../session.ts'
import { CreateGroup } from './forms.tsx'

export const metadata = { title: 'Groups of Senders' }

export default async function SenderGroups() {
  const groups = await listGroups(getRuntime(), await currentActor('see'))
  return (
    <>
      <PageHeader
        back={{ href: '/dashboard/senders', label: 'Senders' }}
        title="Groups"
        description="Devices that are managed together, such as the cameras at a site."
        actions={
          <IfMay right="build">
            <CreateGroup />
          </IfMay>
        }
      />
      {groups.length === 0 ? (
        <EmptyState icon={Boxes} title="No groups yet">
          A group says which Pipes its Senders may use, and by which protocols. It can be rotated, moved and
          revoked as a whole.
        </EmptyState>
      ) : (
        <Table
          caption="Groups of Senders"
          rows={groups}
          columns={[
            [
              'Name',
              ({ id, name }) => <RowLink href={`/dashboard/senders/groups/${id}`}>{name}</RowLink>,
              NAME,
            ],
            ['Senders', ({ senderCount }) => formatCount(senderCount), NUMBER],
            ['Silent', ({ silentCount }) => formatCount(silentCount), NUMBER],
            ['Refused', ({ refusedCount }) => formatCount(refusedCount), NUMBER],
            ['Transferred', ({ transferredBytes }) => formatBytes(transferredBytes), NUMBER],
            ['Last seen', ({ lastSeenAt }) => (lastSeenAt ? <Time at={lastSeenAt} /> : 'never'), SOFT_NUMBER],
          ]}
        />
      )}
    </>
  )
}
