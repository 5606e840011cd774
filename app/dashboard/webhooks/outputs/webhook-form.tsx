'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { CheckField, CheckList, TextArea, TextField } from '#components/ui/field.tsx'
import { useSecretOnce } from '#components/ui/secret-once.tsx'
import { Summary } from '#components/ui/summary.tsx'
import { LINK } from '#components/ui/text-link.tsx'
import type { WebhookOutput } from '#lib/webhooks/outputs/webhook-output.ts'
import { createWebhook, saveWebhook } from './actions.ts'

const ENDS = [
  ['failed', 'failed: could not be completed, with a reason'],
  ['expired', 'expired: not finished in time'],
  ['canceled', 'canceled: ended by the client or by you'],
] as const

type Made = { id: string; secret: string }
type Props = {
  pipeId: string | null
  output: WebhookOutput | undefined
  inboxUrl: string
  submit: string
  /** Opens the output's page once its secret has been saved. */
  onward?: boolean
}

export function WebhookForm({ pipeId, output, inboxUrl, submit, onward = false }: Props) {
  const router = useRouter()
  const { answers, dialog } = useSecretOnce({
    revealable: true,
    title: 'Your webhook secret',
    what: 'webhook secret',
    secretOf: (made: Made | undefined) => made?.secret,
    note: 'Your receiver uses it to verify each webhook.',
    onSaved: (made) => onward && router.push(`/dashboard/webhooks/outputs/${made!.id}`),
  })
  return (
    <>
      <ActionForm
        right="build"
        action={output ? saveWebhook.bind(null, output.id) : createWebhook.bind(null, pipeId)}
        submit={submit}
        submitTone={output ? 'plain' : 'primary'}
        {...answers}
      >
        {onward && <NameField value="" />}
        <Address value={output?.url ?? ''} inboxUrl={inboxUrl} />
        <Ends output={output} />
        <FurtherFields output={output} ofWorkspace={pipeId === null} open={onward} />
      </ActionForm>
      {dialog}
    </>
  )
}

function Address({ value, inboxUrl }: { value: string; inboxUrl: string }) {
  const [address, setAddress] = useState(value)
  return (
    <TextField
      name="url"
      label="Address"
      type="url"
      mono
      value={address}
      onChange={(event) => setAddress(event.target.value)}
      placeholder="https://api.example.com/hooks/sluice"
      hint={
        address === inboxUrl ? (
          'This is your inbox: webhooks sent to it appear under Webhooks.'
        ) : (
          <>
            No receiver yet?{' '}
            <button type="button" className={LINK} onClick={() => setAddress(inboxUrl)}>
              Use your inbox
            </button>
          </>
        )
      }
    />
  )
}

/** An output that gets final statuses always gets `transferred`; the others are optional. */
function Ends({ output }: { output: WebhookOutput | undefined }) {
  const [told, setTold] = useState(output?.events.includes('file.status_changed') ?? true)
  return (
    <CheckList
      name="statuses"
      legend="Send an event when a file is"
      options={ENDS}
      chosen={output?.statuses}
      disabled={!told}
      {...(!told && {
        hint: 'To receive any of these, also select “transferred, or partially transferred”.',
      })}
    >
      <CheckField
        name="events"
        value="file.status_changed"
        label="transferred, or partially transferred: the object is in the bucket"
        checked={told}
        onChange={(event) => setTold(event.target.checked)}
      />
    </CheckList>
  )
}

const KINDS = [
  ['file.created', 'an upload starts'],
  ['batch.completed', 'a batch is sealed and all its files have ended'],
  ['data_store.failing', 'a bucket rejects uploads'],
  ['data_store.recovered', 'the bucket accepts uploads again'],
  ['output.turned_off', 'Sluice turns a webhook output off'],
  ['usage.threshold', '80 or 100% of the monthly transfer quota is used'],
] as const

type FurtherProps = { output: WebhookOutput | undefined; ofWorkspace: boolean; open: boolean }

function NameField({ value }: { value: string }) {
  return (
    <TextField
      name="name"
      label="Name"
      defaultValue={value}
      maxLength={100}
      hint="A name for the output, such as Backend, Data pipeline or Chat."
    />
  )
}

/** Options that few people need: collapsed, except on the page for a new output, where the name comes first. */
function FurtherFields({ output, ofWorkspace, open }: FurtherProps) {
  const names = output?.headerNames ?? []
  const kinds = KINDS.filter(([kind]) => ofWorkspace || kind !== 'usage.threshold')
  return (
    <details open={open} className="group">
      <Summary>{open ? 'More events and request headers' : 'Name, more events and request headers'}</Summary>
      <div className="mt-4 space-y-4">
        {!open && <NameField value={output?.name ?? 'Webhook'} />}
        <CheckList
          name="events"
          legend="Send an event when"
          options={kinds.map(([kind, label]) => [kind, <Kind key={kind} kind={kind} label={label} />])}
          chosen={output?.events}
        />
        <TextArea
          name="headers"
          label="Request headers"
          optional
          mono
          rows={2}
          placeholder="X-Api-Key: …"
          hint={
            names.length > 0
              ? `Set: ${names.join(', ')}. Values are stored encrypted and not shown. Your input replaces all of them.`
              : 'The headers your receiver requires, one per line. Values are stored encrypted and not shown again.'
          }
        />
        {names.length > 0 && <CheckField name="dropHeaders" label="Remove all" />}
      </div>
    </details>
  )
}

function Kind({ kind, label }: { kind: string; label: string }) {
  return (
    <>
      {label} <code className="text-ink-faint text-xs">{kind}</code>
    </>
  )
}
