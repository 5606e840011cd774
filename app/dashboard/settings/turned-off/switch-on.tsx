'use client'

import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import type { TurnedOff } from '#lib/identity/accounts/turned-off.ts'
import { switchOnAgain } from './actions.ts'

const CONSEQUENCES: Record<TurnedOff['kind'], string> = {
  account_key: 'Anyone with this key can manage the entire workspace again.',
  sender: 'Anyone with its token can upload to every Pipe in this workspace again.',
  webhook: 'Its receiver gets the name of every new file again.',
  hook: 'Its receiver decides on every upload again.',
  data_store: 'Pipes that use it store files there again, in a bucket whose owner can read them.',
}

export function SwitchOn({ id, kind, name }: { id: string; kind: TurnedOff['kind']; name: string }) {
  return (
    <IfMay right="administer">
      <ConfirmDialog
        trigger={<Button size="sm">Switch on</Button>}
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
