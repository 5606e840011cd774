import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import type { DataStoreState } from '#lib/workspace/data-stores/sealed-data-store.ts'
import { ButtonLink } from '../ui/button-link.tsx'
import { Notice } from '../ui/notice.tsx'
import { Panel } from '../ui/panel.tsx'
import { IfMay } from '../ui/rights.tsx'
import { Time } from '../ui/time.tsx'
import { CheckedOperations, isOptional, LeastPolicy } from './check-findings.tsx'
import { CheckNow } from './data-store-actions.tsx'

const isRefusedUse = ({ name, ok }: { name: string; ok: boolean }) => !ok && !isOptional(name)

const WITHOUT_CHECK: Record<DataStoreState, string> = {
  ready: 'Uploads can go to this bucket nevertheless, because it is known to work.',
  unchecked: 'Uploads cannot go to this bucket until a check succeeds.',
  off: 'Uploads cannot go to this bucket, because it is turned off.',
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
      aside={<CheckNow id={store.id} />}
    >
      {check && (
        <div className="space-y-4">
          {check.ok && check.operations.some(isRefusedUse) && (
            <Notice tone="bad" title="The bucket rejects a Pipe's object settings.">
              Uploads to that Pipe will fail. Change its settings, or grant the missing permission shown
              below.
            </Notice>
          )}
          {check.ok ? (
            <Notice
              tone="good"
              title="Uploads can go to this bucket."
              action={
                <IfMay right="build">
                  <ButtonLink href={`/dashboard/pipes/new?dataStore=${store.id}`} size="sm">
                    Create a Pipe for this bucket
                  </ButtonLink>
                </IfMay>
              }
            />
          ) : (
            <Notice tone="bad" title="Uploads cannot go to this bucket yet.">
              Fix the refused operations listed below, then check again.
            </Notice>
          )}
          <CheckedOperations check={check} />
          <LeastPolicy check={check} />
        </div>
      )}
    </Panel>
  )
}
