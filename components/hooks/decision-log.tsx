import Link from 'next/link'
import type { Decision } from '#lib/hooks/list-decisions.ts'
import { explainRejection } from '#lib/uploads/rules/decision.ts'
import { DECIDED_BY_IN_WORDS } from '../files/decision-words.ts'
import { Status } from '../ui/status.tsx'
import { Row, Table, Td, Th } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { HOOK_WORDS } from './hook-words.ts'

export function DecisionLog({ decisions }: { decisions: Decision[] }) {
  if (decisions.length === 0)
    return <p className="text-ink-faint text-sm">Nothing was decided about recent files.</p>
  const head = (
    <>
      <Th>File</Th>
      <Th>Decision</Th>
      <Th>Asked</Th>
      <Th>Reason</Th>
      <Th>Decided</Th>
    </>
  )
  return (
    <Table caption="Latest decisions" head={head}>
      {decisions.map(({ fileId, filename, hook, state, decidedBy, reason, decidedAt }) => (
        <Row key={`${fileId} ${hook}`}>
          <Td long className="font-medium">
            <Link href={`/dashboard/files/${fileId}`} className="row-link" title={filename}>
              {filename}
            </Link>
          </Td>
          <Td label="Decision">
            <Status state={state} />
          </Td>
          <Td label="Asked" className="text-ink-soft">
            {HOOK_WORDS[hook].title}
          </Td>
          <Td label="Reason" long className="text-ink-soft">
            {reason ? explainRejection(reason) : DECIDED_BY_IN_WORDS[decidedBy]}
          </Td>
          <Td label="Decided" className="text-ink-soft">
            <Time at={decidedAt} />
          </Td>
        </Row>
      ))}
    </Table>
  )
}
