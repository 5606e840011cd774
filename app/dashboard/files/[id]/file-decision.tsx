import { DECIDED_BY_IN_WORDS, DECISION_STATES_IN_WORDS } from '#components/files/words.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { TextField } from '#components/ui/field.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { LocalTime } from '#components/ui/time.tsx'
import type { File } from '#lib/dashboard/files/file.ts'
import { explainRejection } from '#lib/uploads/rules/decision.ts'
import { allow, reject } from './actions.ts'

/** The customer backend's decision on a file before its object is created. */
export function FileDecision({ id, decision }: { id: string; decision: NonNullable<File['decision']> }) {
  const { state, reason, result, decidedBy, decidedAt, deferredUntil } = decision
  return (
    <Panel title="Decision">
      <Facts
        facts={{
          State: DECISION_STATES_IN_WORDS[state],
          [state === 'deferred' ? 'Deferred' : 'Decided']:
            decidedBy && decidedAt ? (
              <>
                <LocalTime at={decidedAt} />, {DECIDED_BY_IN_WORDS[decidedBy]}
              </>
            ) : undefined,
          'Rejected unless decided by': deferredUntil ? <LocalTime at={deferredUntil} /> : undefined,
          Reason: reason ? explainRejection(reason) : undefined,
          Result: result === null ? undefined : JSON.stringify(result),
        }}
      />
      {(state === 'asked' || state === 'deferred') && (
        <IfMay right="operate">
          <div className="mt-4 flex flex-wrap gap-2">
            <ActionForm action={allow.bind(null, id)} submit="Allow" submitSize="sm" />
            <Reject id={id} />
          </div>
        </IfMay>
      )}
    </Panel>
  )
}

function Reject({ id }: { id: string }) {
  return (
    <ConfirmDialog
      trigger={<Button size="sm">Reject…</Button>}
      title="Reject this file"
      confirm="Reject the file"
      action={reject.bind(null, id)}
    >
      <p>The file fails, no object is created, and its bytes are discarded.</p>
      <TextField
        name="reason"
        label="Reason"
        optional
        maxLength={500}
        hint="The uploader sees this reason on every request."
      />
    </ConfirmDialog>
  )
}
