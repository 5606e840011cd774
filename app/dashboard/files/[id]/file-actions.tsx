'use client'

import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { cancel, erase } from './actions.ts'

type Props = { id: string; name: string; underWay: boolean; cancelable: boolean }

export function FileActions({ id, name, underWay, cancelable }: Props) {
  if (cancelable) {
    return (
      <IfMay right="operate">
        <ConfirmDialog
          trigger={<Button>Cancel upload…</Button>}
          title="Cancel this upload"
          confirm="Cancel the upload"
          action={cancel.bind(null, id)}
        >
          <p>
            The client gets 410, and the bytes received so far are discarded. The upload cannot be resumed.
          </p>
        </ConfirmDialog>
      </IfMay>
    )
  }
  if (underWay) return null
  return (
    <IfMay right="administer">
      <ConfirmDialog
        trigger={<Button>Erase record…</Button>}
        title="Erase this record"
        name={name}
        confirm="Erase the record"
        action={erase.bind(null, id)}
      >
        <p>
          Sluice erases its record of this file and its webhooks. The object in your bucket is not touched.
        </p>
      </ConfirmDialog>
    </IfMay>
  )
}
