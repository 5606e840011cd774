import type { File } from '#lib/dashboard/files/file.ts'
import { explainRejection } from '#lib/uploads/rules/decision.ts'
import { formatExact } from '../format.ts'
import { Facts } from '../ui/facts.tsx'
import { Panel } from '../ui/panel.tsx'
import { DECIDED_BY_IN_WORDS, DECISION_STATES_IN_WORDS } from './words.ts'

/** What the customer's backend says of a file before there is an object. */
export function FileDecision({ decision }: { decision: NonNullable<File['decision']> }) {
  const { state, reason, result, decidedBy, decidedAt, deferredUntil } = decision
  return (
    <Panel title="Decision">
      <Facts
        facts={{
          State: DECISION_STATES_IN_WORDS[state],
          Decided:
            decidedBy && decidedAt
              ? `${formatExact(Date.parse(decidedAt))}, ${DECIDED_BY_IN_WORDS[decidedBy]}`
              : undefined,
          'Rejected unless decided by': deferredUntil ? formatExact(Date.parse(deferredUntil)) : undefined,
          Reason: reason ? explainRejection(reason) : undefined,
          Result: result === null ? undefined : JSON.stringify(result),
        }}
      />
    </Panel>
  )
}
