import { ActionForm } from '#components/ui/action-form.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { LocalTime } from '#components/ui/time.tsx'
import type { File } from '#lib/dashboard/files/file.ts'
import { DECIDED_BY_IN_WORDS, DECISION_STATES_IN_WORDS } from '#lib/dashboard/files/words.ts'
import { explainRejection } from '#lib/hooks/rejection.ts'
import { RejectFiles } from '../reject-files.tsx'
import { allow, reject } from './actions.ts'

type Decision = NonNullable<File['decision']>
type Props = { id: string; decision: Decision }

/** The customer backend's decision on a file before its object is created. */
export function FileDecision({ decision }: { decision: Decision }) {
  const { state, reason, result, decidedBy, decidedAt } = decision
  return (
    <Panel title="Decision">
      <Facts
        facts={{
          State: DECISION_STATES_IN_WORDS[state],
          Decided:
            decidedBy && decidedAt ? (
              <>
                <LocalTime at={decidedAt} />, {DECIDED_BY_IN_WORDS[decidedBy]}
              </>
            ) : undefined,
          Reason: reason ? explainRejection(reason) : undefined,
          Result: result === null ? undefined : JSON.stringify(result),
        }}
      />
    </Panel>
  )
}

/** Asks for the decision on a file that awaits it. */
export function AwaitingDecision({ id, decision: { state, deferredUntil } }: Props) {
  return (
    <Notice
      tone="info"
      title="This file awaits a decision"
      className="mb-3"
      action={
        <IfMay right="operate">
          <div className="flex flex-wrap gap-2">
            <ActionForm action={allow.bind(null, id)} submit="Allow" submitSize="sm" />
            <RejectFiles count={1} action={reject.bind(null, id)} />
          </div>
        </IfMay>
      }
    >
      Every byte has arrived, and the object is created once the file is allowed.
      {state === 'asked' && ' The decision hook has not responded yet.'}
      {deferredUntil && (
        <>
          {' '}
          It is rejected unless it is allowed by <LocalTime at={deferredUntil} />.
        </>
      )}
    </Notice>
  )
}
