'use client'

import { plural } from '#components/format.ts'
import { SelectionBar } from '#components/lists/selection.tsx'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { notify } from '#components/ui/toaster.tsx'
import { allowAll, cancelAll, eraseAll, rejectAll, restoreAll } from './actions.ts'
import { RejectFiles } from './reject-files.tsx'

type Props = {
  /** The ids of uploads in progress. */
  open: string[]
  /** The ids of those of them that await a decision, and can no longer be canceled. */
  awaiting: string[]
}

export function SelectedFiles({ open, awaiting }: Props) {
  return (
    <SelectionBar>
      {(chosen, clear) => {
        const undecided = chosen.filter((id) => awaiting.includes(id))
        const underWay = chosen.filter((id) => open.includes(id) && !awaiting.includes(id))
        const ended = chosen.filter((id) => !open.includes(id))
        return (
          <>
            {undecided.length > 0 && (
              <>
                <ActionForm
                  action={allowAll.bind(null, undecided)}
                  submit={`Allow ${plural(undecided.length, 'file')}`}
                  submitSize="sm"
                  onDone={clear}
                />
                <RejectFiles
                  count={undecided.length}
                  action={rejectAll.bind(null, undecided)}
                  onDone={clear}
                />
              </>
            )}
            {underWay.length > 0 && (
              <ConfirmDialog
                trigger={<Button>Cancel uploads…</Button>}
                title={`Cancel ${plural(underWay.length, 'upload')}`}
                confirm="Cancel them"
                action={() => cancelAll(underWay)}
                onDone={clear}
              >
                <p>
                  {plural(underWay.length, 'upload')} in progress will be canceled: the client gets 410, and
                  the bytes received so far are discarded. This cannot be undone.
                </p>
                {ended.length > 0 && (
                  <p>
                    {plural(ended.length, 'file')} that {ended.length === 1 ? 'has' : 'have'} already ended
                    will not change.
                  </p>
                )}
              </ConfirmDialog>
            )}
            {ended.length > 0 && (
              <IfMay right="administer">
                <ConfirmDialog
                  trigger={<Button>Erase records…</Button>}
                  title={`Erase ${plural(ended.length, 'record')}`}
                  confirm="Erase them"
                  action={async () => {
                    const answer = await eraseAll(ended)
                    if (answer.status === 'done') offerBack(answer.data!.erased)
                    return answer.status === 'done' ? { status: 'done' as const } : answer
                  }}
                  onDone={clear}
                >
                  <p>
                    Sluice erases its {ended.length === 1 ? 'record' : 'records'} of{' '}
                    {plural(ended.length, 'file')} and of {ended.length === 1 ? 'its' : 'their'} webhooks.
                    Objects in your bucket are not touched. You can undo this for a minute.
                  </p>
                  {underWay.length > 0 && (
                    <p>
                      {plural(underWay.length, 'upload')} in progress will not be erased. Cancel{' '}
                      {underWay.length === 1 ? 'it' : 'them'} first.
                    </p>
                  )}
                </ConfirmDialog>
              </IfMay>
            )}
          </>
        )
      }}
    </SelectionBar>
  )
}

function offerBack(erased: string[]): void {
  notify.undoable(`${plural(erased.length, 'record')} erased.`, async () => {
    const answer = await restoreAll(erased)
    if (answer.status === 'done') notify.done(answer.message ?? '')
    else if (answer.status === 'error') notify.failed(answer.message)
  })
}
