import { Stethoscope } from 'lucide-react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Time } from '#components/ui/time.tsx'
import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import type { DataStoreState } from '#lib/workspace/data-stores/sealed-data-store.ts'
import { check as runCheck } from './actions.ts'
import { CheckFindings, isOptional } from './check-findings.tsx'
import { CheckVerdict, TurnedOff } from './check-verdict.tsx'

const isRefusedUse = ({ name, ok }: { name: string; ok: boolean }) => !ok && !isOptional(name)

const WITHOUT_CHECK: Record<DataStoreState, string> = {
  ready: 'Uploads can go to this bucket nevertheless, because it is known to work.',
  unchecked: 'Uploads cannot go to this bucket until a check succeeds.',
  // A notice says so.
  off: '',
}

/** The check's findings by operation, with suggested changes and snippets to paste. */
export function CheckReport({ store, state }: { store: DataStore; state: DataStoreState }) {
  const { check } = store
  return (
    <Panel
      id="check"
      title="Check"
      description={
        check ? (
          <>
            Ran <Time at={check.checkedAt} />.
          </>
        ) : (
          `Not run with the current settings yet. ${WITHOUT_CHECK[state]}`
        )
      }
      aside={
        <ActionForm
          right="operate"
          action={runCheck.bind(null, store.id)}
          submit="Check now"
          icon={<Stethoscope aria-hidden />}
        />
      }
    >
      {!check && state === 'off' && <TurnedOff />}
      {check && (
        <div className="space-y-4">
          {check.ok && check.operations.some(isRefusedUse) && (
            <Notice tone="bad" title="The bucket rejects a Pipe's object settings.">
              Uploads to that Pipe will fail. Change its settings, or grant the missing permission shown
              below.
            </Notice>
          )}
          <CheckVerdict id={store.id} ok={check.ok} state={state} />
          <CheckFindings check={check} />
        </div>
      )}
    </Panel>
  )
}
