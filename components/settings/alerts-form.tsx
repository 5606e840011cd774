'use client'

import { saveAlerts } from '#app/dashboard/settings/alerts/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Row, Table, Td, Th } from '../ui/table.tsx'

type Props = { kinds: { kind: string; name: string; mail: boolean; notice: boolean }[] }

const WAYS = [
  ['mail', 'Mail'],
  ['notice', 'Notice'],
] as const

export function AlertsForm({ kinds }: Props) {
  const head = (
    <>
      <Th>What happens</Th>
      {WAYS.map(([way, title]) => (
        <Th key={way} className="w-24">
          {title}
        </Th>
      ))}
    </>
  )
  return (
    <ActionForm
      right="build"
      action={saveAlerts}
      submit="Save"
      submitTone="plain"
      className="flex flex-col gap-4"
    >
      <Table caption="Alerts" head={head}>
        {kinds.map(({ kind, name, ...wanted }) => (
          <Row key={kind}>
            <Td className="font-medium">{name}</Td>
            {WAYS.map(([way, title]) => (
              <Td key={way} label={title}>
                <input
                  type="checkbox"
                  name="wanted"
                  value={`${way}:${kind}`}
                  defaultChecked={wanted[way]}
                  aria-label={`${title}: ${name}`}
                  className="size-4 accent-water align-middle"
                />
              </Td>
            ))}
          </Row>
        ))}
      </Table>
    </ActionForm>
  )
}
