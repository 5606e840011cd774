'use client'

import { ActionForm } from '#components/ui/action-form.tsx'
import { type Column, Table, Th } from '#components/ui/table.tsx'
import { saveAlerts } from './actions.ts'

type Kind = { kind: string; name: string; mail: boolean; notice: boolean }

export function AlertsForm({ kinds }: { kinds: Kind[] }) {
  return (
    <ActionForm right="build" action={saveAlerts} submit="Save" submitTone="plain">
      <Table
        caption="Alerts"
        rows={kinds}
        rowKey={({ kind }) => kind}
        columns={[
          ['Alert', ({ name }) => name, { className: 'whitespace-normal py-1.5 font-medium' }],
          wayColumn('mail', 'Email'),
          wayColumn('notice', 'Notice'),
        ]}
      />
    </ActionForm>
  )
}

function wayColumn(way: 'mail' | 'notice', title: string): Column<Kind> {
  return [
    title,
    ({ kind, name, [way]: wanted }) => (
      <input
        type="checkbox"
        name="wanted"
        value={`${way}:${kind}`}
        defaultChecked={wanted}
        aria-label={`${title}: ${name}`}
        className="size-4 accent-water align-middle"
      />
    ),
    { head: <Th className="w-20">{title}</Th> },
  ]
}
