import { describeAgent } from '#components/settings/describe-agent.ts'
import { EndOtherSessions, EndSession } from '#components/settings/end-session.tsx'
import { Status } from '#components/ui/status.tsx'
import { Row, Table, Td, Th } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { listSessions } from '#lib/identity/sessions/sessions.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'

export const metadata = { title: 'Sessions' }

export default async function Sessions() {
  const sessions = await listSessions(getRuntime(), await requireSession('see'))
  const head = (
    <>
      <Th>Browser</Th>
      <Th>Address</Th>
      <Th>Signed in</Th>
      <Th>Last seen</Th>
      <Th>
        <span className="sr-only">Actions</span>
      </Th>
    </>
  )
  return (
    <>
      <div className="mb-3 flex items-center justify-between gap-3">
        <p className="text-ink-soft text-sm">Where you are signed in.</p>
        {sessions.length > 1 && <EndOtherSessions />}
      </div>
      <Table caption="Sessions" head={head}>
        {sessions.map(({ id, userAgent, address, createdAt, lastSeenAt, current }) => (
          <Row key={id}>
            <Td long className="font-medium" title={userAgent ?? undefined}>
              <span className="flex items-center gap-2">
                {describeAgent(userAgent)}
                {current && <Status state="active" label="this one" />}
              </span>
            </Td>
            <Td label="Address" className="font-mono text-ink-soft text-xs">
              {address ?? '–'}
            </Td>
            <Td label="Signed in" className="text-ink-soft">
              <Time at={createdAt} />
            </Td>
            <Td label="Last seen" className="text-ink-soft">
              <Time at={lastSeenAt} />
            </Td>
            <Td className="text-right">{!current && <EndSession id={id} />}</Td>
          </Row>
        ))}
      </Table>
    </>
  )
}
