import { formatBytes, formatCount } from '#components/format.ts'
import { PageHeader } from '#components/shell/page-header.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { TextField } from '#components/ui/field.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listPipes } from '#lib/workspace/pipes/read-pipes.ts'
import { listGroups, showGroup } from '#lib/workspace/senders/sender-groups.ts'
import { currentActor } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { titledBy } from '../../../title-of.ts'
import { LimitsForm } from '../../limits-form.tsx'
import { change } from '../actions.ts'
import { GroupActions } from '../forms.tsx'

export const generateMetadata = titledBy('Groups of Senders', showGroup)

export default async function GroupPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const actor = await currentActor('see')
  const group = await orNotFound(showGroup(getRuntime(), actor, id))
  const groups = await listGroups(getRuntime(), actor)
  const { data: pipes } = await listPipes(getRuntime(), actor, { limit: 100 })
  const others = groups.filter((other) => other.id !== id).map(({ id, name }) => ({ id, name }))
  return (
    <>
      <PageHeader
        back={{ href: '/dashboard/senders/groups', label: 'Groups' }}
        title={group.name}
        actions={
          <IfMay right="build">
            <GroupActions id={id} name={group.name} others={others} />
          </IfMay>
        }
      />
      <div className="space-y-5">
        <Panel
          title="Senders"
          aside={<TextLink href={`/dashboard/senders?groupId=${id}`}>Show its Senders</TextLink>}
        >
          <Facts
            facts={{
              Senders: formatCount(group.senderCount),
              'Silent for too long': formatCount(group.silentCount),
              'Refused sign-ins': formatCount(group.refusedCount),
              Transferred: formatBytes(group.transferredBytes),
              'Last seen': group.lastSeenAt ? <Time at={group.lastSeenAt} /> : 'never',
            }}
          />
        </Panel>
        <Panel title="What its Senders may use" description="A Sender's own limits replace these.">
          <LimitsForm
            action={change.bind(null, id)}
            limits={group}
            pipes={pipes.map(({ id, name }) => ({ id, name }))}
            otherwise="None chosen: all of them."
          >
            <TextField
              name="name"
              label="Name"
              defaultValue={group.name}
              maxLength={100}
              className="max-w-sm"
            />
          </LimitsForm>
        </Panel>
      </div>
    </>
  )
}
