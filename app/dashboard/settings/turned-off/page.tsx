import { Power } from 'lucide-react'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { ACTIONS, NAME, SOFT, Table } from '#components/ui/table.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import { TURNED_OFF_NAMES } from '#lib/identity/accounts/mails.ts'
import { listTurnedOff, type TurnedOff } from '#lib/identity/accounts/turned-off.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentActor } from '../../../session.ts'
import { switchOnAgain } from './actions.ts'

export const metadata = { title: 'Turned off' }

const CONSEQUENCES: Record<TurnedOff['kind'], string> = {
  account_key: 'Anyone with this key can manage the entire workspace again.',
  sender: 'Anyone with its token can upload to every Pipe in this workspace again.',
  webhook: 'Its receiver gets the name of every new file again.',
  hook: 'Its receiver decides on every upload again.',
  data_store: 'Pipes that use it store files there again, in a bucket whose owner can read them.',
}

export default async function TurnedOffThings() {
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
        columns={[
          ['Name', ({ name }) => <span title={name}>{name}</span>, NAME],
          ['Kind', ({ kind }) => TURNED_OFF_NAMES[kind], SOFT],
          ['Turned off', ({ turnedOffAt }) => <Time at={turnedOffAt} />, SOFT],
          ['Actions', (thing) => <SwitchOn thing={thing} />, ACTIONS],
        ]}
      />
    </>
  )
}

function SwitchOn({ thing: { id, kind, name } }: { thing: TurnedOff }) {
  return (
    <IfMay right="administer">
      <ConfirmDialog
        trigger="Switch on"
        look={{ size: 'sm' }}
        title="Switch on again"
        confirm="Switch on"
        action={switchOnAgain.bind(null, id)}
      >
        <p className="break-words font-medium text-ink">{name}</p>
        <p>{CONSEQUENCES[kind]} Only do this if you know who created it.</p>
      </ConfirmDialog>
    </IfMay>
  )
}
