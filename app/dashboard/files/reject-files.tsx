import { plural } from '#components/format.ts'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { TextField } from '#components/ui/field.tsx'
import type { FormAction } from '#components/ui/form-state.ts'

type Props = { count: number; action: FormAction; onDone?: () => void }

export function RejectFiles({ count, action, onDone }: Props) {
  const which = count === 1 ? 'this file' : plural(count, 'file')
  return (
    <ConfirmDialog
      trigger={<Button size="sm">Reject…</Button>}
      title={`Reject ${which}`}
      confirm={count === 1 ? 'Reject the file' : 'Reject them'}
      action={action}
      onDone={onDone}
    >
      <p>No object is created, and the bytes are discarded.</p>
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
