'use client'

import { inUnit } from '#app/actions/form-fields.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { TextArea, TextField } from '#components/ui/field.tsx'
import { UnitSelect } from '#components/ui/unit-select.tsx'
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
      <BytesField
        name="transferLimitBytes"
        label="Monthly transfer"
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
      <BytesField
        name="maxFileBytes"
        label="Largest file"
        hint="If empty, the bucket and the Pipe set the limit."
        bytes={maxFileBytes}
      />
    </ActionForm>
  )
}

type BytesProps = { name: string; label: string; hint: string; bytes: number | null }

function BytesField({ name, label, hint, bytes }: BytesProps) {
  const { amount, unit } = bytes ? inUnit(bytes) : { amount: bytes ?? '', unit: 'GB' }
  return (
    <TextField
      name={name}
      label={label}
      hint={hint}
      type="number"
      min={0}
      step="any"
      inputMode="decimal"
      defaultValue={amount}
      after={
        <UnitSelect name={`${name}Unit`} label={`Unit for ${label}`} defaultValue={unit}>
          <option>MB</option>
          <option>GB</option>
          <option>TB</option>
        </UnitSelect>
      }
    />
  )
}

export function Suspend({ id }: { id: string }) {
  return (
    <ActionForm action={suspend.bind(null, id)} submit="Suspend" submitTone="danger">
      <TextArea
        name="reason"
        label="Reason"
        hint="The workspace's members receive the reason by email."
        maxLength={500}
        className="max-w-md"
      />
    </ActionForm>
  )
}

export function Lift({ id }: { id: string }) {
  return <ActionForm action={lift.bind(null, id)} submit="Lift the suspension" />
}
