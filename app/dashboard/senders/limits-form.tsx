'use client'

import type { ReactNode } from 'react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { CheckField, TextField } from '#components/ui/field.tsx'
import type { FormState } from '#components/ui/form-state.ts'
import type { Limits } from '#lib/workspace/senders/limits.ts'

const SOURCES = [
  ['http', 'HTTP'],
  ['sftp', 'SFTP'],
  ['ftp', 'FTP and FTPS'],
] as const

type Props = {
  action: (previous: unknown, data: FormData) => Promise<FormState<undefined>>
  limits: Limits
  pipes: { id: string; name: string }[]
  /** What applies if nothing is chosen. */
  otherwise: string
  children: ReactNode
}

/** What a Sender or the Senders of a group may use. */
export function LimitsForm({ action, limits, pipes, otherwise, children }: Props) {
  const { pipeIds, sources, silentHours } = limits
  const unlisted = (pipeIds ?? []).filter((id) => !pipes.some((pipe) => pipe.id === id))
  const choices = [...pipes, ...unlisted.map((id) => ({ id, name: id }))]
  return (
    <ActionForm right="build" action={action} submit="Save" className="flex flex-col gap-5">
      {children}
      <div className="grid gap-5 sm:grid-cols-2">
        <Choices legend="Only these Pipes" otherwise={otherwise}>
          {choices.map(({ id, name }) => (
            <CheckField
              key={id}
              name="pipeIds"
              value={id}
              label={name}
              defaultChecked={pipeIds?.includes(id)}
            />
          ))}
        </Choices>
        <Choices legend="Only by" otherwise={otherwise}>
          {SOURCES.map(([source, label]) => (
            <CheckField
              key={source}
              name="sources"
              value={source}
              label={label}
              defaultChecked={sources?.includes(source)}
            />
          ))}
        </Choices>
      </div>
      <TextField
        name="silentHours"
        label="Alert after this many hours of silence"
        optional
        inputMode="numeric"
        className="max-w-sm"
        defaultValue={silentHours ?? ''}
        hint="Counted from the last sign-in, token request or file."
      />
    </ActionForm>
  )
}

type ChoicesProps = { legend: string; otherwise: string; children: ReactNode }

function Choices({ legend, otherwise, children }: ChoicesProps) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1.5 font-medium text-sm">{legend}</legend>
      <div className="flex max-h-48 flex-col gap-1.5 overflow-y-auto">{children}</div>
      <p className="text-ink-faint text-xs">{otherwise}</p>
    </fieldset>
  )
}
