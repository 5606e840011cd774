import type { File } from '#lib/dashboard/files/file.ts'
import { explainRejection } from '#lib/uploads/rules/decision.ts'
import { formatExact } from '../format.ts'
import { Facts } from '../ui/facts.tsx'
import { Panel } from '../ui/panel.tsx'
import { DECIDED_BY_IN_WORDS, DECISION_STATES_IN_WORDS } from './decision-words.ts'

/** What the customer's backend says of a file before there is an object. */
export function FileDecision({ decision }: { decision: NonNullable<File['decision']> }) {
  const { state, reason, result, decidedBy, decidedAt, deferredUntil } = decision
  const facts: [string, string][] = [['State', DECISION_STATES_IN_WORDS[state]]]
  if (decidedBy && decidedAt)
    facts.push(['Decided', `${formatExact(Date.parse(decidedAt))}, ${DECIDED_BY_IN_WORDS[decidedBy]}`])
  if (deferredUntil) facts.push(['Rejected unless decided by', formatExact(Date.parse(deferredUntil))])
  if (reason) facts.push(['Reason', explainRejection(reason)])
  if (result !== null) facts.push(['Result', JSON.stringify(result)])
  return (
    <Panel title="Decision">
      <Facts facts={facts} />
    </Panel>
  )
}
