import { Pager } from '#components/shell/pager.tsx'
import { Row, Table, Td, Th } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { listAudit } from '#lib/identity/audit/list-audit.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentActor } from '../../../session.ts'
import { orNotFound } from '../../or-not-found.ts'
import { pageOf, readSearch, type Search } from '../../page-query.ts'

export const metadata = { title: 'Audit log' }

export default async function Audit({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const { data, nextCursor } = await orNotFound(
    listAudit(getRuntime(), await currentActor('see'), pageOf(query)),
  )
  const head = (
    <>
      <Th>When</Th>
      <Th>Who</Th>
      <Th>What</Th>
      <Th>To what</Th>
    </>
  )
  return (
    <>
      <p className="mb-3 text-ink-soft text-sm">Every change and who made it. The log cannot be edited.</p>
      <Table caption="Audit log" head={head}>
        {data.map(({ id, at, actor, action, subjectLabel, subjectId }) => (
          <Row key={id}>
            <Td label="When" className="text-ink-soft">
              <Time at={at} />
            </Td>
            <Td long label="Who" title={actor.address ? `From ${actor.address}` : undefined}>
              {actor.label}
              {actor.kind === 'account_key' && <span className="text-ink-faint"> (key)</span>}
            </Td>
            <Td label="What" className="font-mono text-xs">
              {action}
            </Td>
            <Td long label="To what" className="text-ink-soft" title={subjectId ?? undefined}>
              {subjectLabel ?? subjectId ?? '–'}
            </Td>
          </Row>
        ))}
      </Table>
      <Pager path="/dashboard/settings/audit" query={query} nextCursor={nextCursor} />
    </>
  )
}
