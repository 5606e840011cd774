'use client'

import { ActionForm } from '#components/ui/action-form.tsx'
import { TextArea, TextField } from '#components/ui/field.tsx'
import { SizeField } from '#components/ui/size-field.tsx'
import { lift, limit, suspend } from './actions.ts'

type LimitProps = {
  id: string
  transferLimitBytes: number | null
  tokensPerSecond: number | null
  memorySharePercent: number | null
  maxFileBytes: number | null
}

export function Limits({ id, ...limits }: LimitProps) {
  const { transferLimitBytes, tokensPerSecond, memorySharePercent, maxFileBytes } = limits
  return (
    <ActionForm action={limit.bind(null, id)} submit="Save" width="md">
      <SizeField
        name="transferLimitBytes"
        label="Monthly transfer"
        unitLabel="Unit for Monthly transfer"
        type="number"
        min={0}
        step="any"
        hint="Leave empty for the default quota. 0 means unlimited."
        bytes={transferLimitBytes}
      />
      <TextField
        name="tokensPerSecond"
        label="Tokens per second, for each Sender"
        type="number"
        min={1}
        inputMode="numeric"
        defaultValue={tokensPerSecond ?? ''}
        hint="If empty, 100."
      />
      <TextField
        name="memorySharePercent"
        label="Share of upload memory, percent"
        type="number"
        min={1}
        max={100}
        inputMode="numeric"
        defaultValue={memorySharePercent ?? ''}
        hint="In each process. If empty, the workspace can use all the memory that others leave free. A lower share slows uploads down but loses no data."
      />
      <SizeField
        name="maxFileBytes"
        label="Largest file"
        unitLabel="Unit for Largest file"
        type="number"
        min={0}
        step="any"
        hint="If empty, the bucket and the Pipe set the limit."
        bytes={maxFileBytes}
      />
    </ActionForm>
  )
}

export function Suspend({ id, sendsMail }: { id: string; sendsMail: boolean }) {
  return (
    <ActionForm action={suspend.bind(null, id)} submit="Suspend" submitTone="danger">
      <TextArea
        name="reason"
        label="Reason"
        hint={
          sendsMail
            ? 'Members see the reason in the dashboard and receive it by email.'
            : 'Members see the reason in the dashboard. This server does not send email.'
        }
        maxLength={500}
        className="max-w-md"
      />
    </ActionForm>
  )
}

export function Lift({ id }: { id: string }) {
  return <ActionForm action={lift.bind(null, id)} submitTone="primary" submit="Lift the suspension" />
}
