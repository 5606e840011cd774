'use client'

import type { ReactNode } from 'react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { CheckList, TextField } from '#components/ui/field.tsx'
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
        <CheckList
          name="pipeIds"
          legend="Only these Pipes"
          options={choices.map(({ id, name }) => [id, name] as const)}
          chosen={pipeIds}
          hint={otherwise}
          className="max-h-48 space-y-1.5 overflow-y-auto"
        />
        <CheckList name="sources" legend="Only by" options={SOURCES} chosen={sources} hint={otherwise} />
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
