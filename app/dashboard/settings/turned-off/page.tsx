import { Power } from 'lucide-react'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { ACTIONS, NAME, SOFT, Table } from '#components/ui/table.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import { TURNED_OFF_NAMES } from '#lib/identity/accounts/mails.ts'
import { listTurnedOff } from '#lib/identity/accounts/turned-off.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentActor } from '../../../session.ts'
import { SwitchOn } from './switch-on.tsx'

export const metadata = { title: 'Turned off' }

export default async function TurnedOff() {
  const things = await listTurnedOff(getRuntime(), await currentActor('see'))
  if (things.length === 0)
    return (
      <EmptyState icon={Power} title="Nothing is turned off">
        If someone uses an account before its address is verified, anything they could have left behind is
        turned off and listed here.
      </EmptyState>
    )
  return (
    <>
      <p className="mb-3 max-w-2xl text-ink-soft text-sm">
        Someone used this account before you verified its address. In case it was not you, everything that
        could still give them access was turned off, and uploads in progress were canceled. Switch on what you
        recognize, and leave the rest off. The <TextLink href="/dashboard/settings/audit">audit log</TextLink>{' '}
        shows when each was created, and from which address.
      </p>
      <Table
        caption="Turned off"
        rows={things}
        rowKey={({ id }) => id}
        columns={[
          ['Name', ({ name }) => <span title={name}>{name}</span>, NAME],
          ['Kind', ({ kind }) => TURNED_OFF_NAMES[kind], SOFT],
          ['Turned off', ({ turnedOffAt }) => <Time at={turnedOffAt} />, SOFT],
          ['Actions', ({ id, kind, name }) => <SwitchOn id={id} kind={kind} name={name} />, ACTIONS],
        ]}
      />
    </>
  )
}
