'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { createWebhook, saveWebhook } from '#app/dashboard/webhooks/actions.ts'
import type { WebhookOutput } from '#lib/webhooks/outputs/webhook-output.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { CheckField, TextField } from '../ui/field.tsx'
import { SecretOnce } from '../ui/secret-once.tsx'
import { SecretShown } from '../ui/secret-shown.tsx'
import { LINK } from '../ui/text-link.tsx'
import { FurtherFields, NameField } from './further-fields.tsx'

const ENDS = [
  ['failed', 'failed: given up, with a reason'],
  ['expired', 'expired: not finished in time'],
  ['canceled', 'canceled: ended by the client or by you'],
] as const

type Made = { id: string; secret: string }
type Props = {
  pipeId: string | null
  output: WebhookOutput | undefined
  inboxUrl: string
  submit: string
  /** Goes to the page of the output once its secret was saved. */
  onward?: boolean
}

export function WebhookForm({ pipeId, output, inboxUrl, submit, onward = false }: Props) {
  const router = useRouter()
  const [made, setMade] = useState<Made>()
  return (
    <>
      <ActionForm<Made | undefined>
        right="build"
        action={output ? saveWebhook.bind(null, output.id) : createWebhook.bind(null, pipeId)}
        submit={submit}
        submitTone={output ? 'plain' : 'primary'}
        onDone={setMade}
        outcome={(data) => data && <SecretShown title="Your webhook secret" secret={data.secret} />}
      >
        {onward && <NameField value="" />}
        <Address value={output?.url ?? ''} inboxUrl={inboxUrl} />
        <Ends output={output} />
        <FurtherFields output={output} ofWorkspace={pipeId === null} open={onward} />
      </ActionForm>
      {made && (
        <SecretOnce
          revealable
          title="Your webhook secret"
          what="webhook secret"
          secret={made.secret}
          onSaved={() => {
            setMade(undefined)
            if (onward) router.push(`/dashboard/webhooks/outputs/${made.id}`)
          }}
        >
          <p className="text-ink-soft text-sm">Your receiver verifies each webhook with it.</p>
        </SecretOnce>
      )}
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
          'This is your inbox: what arrives is shown under Webhooks.'
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

/** An output that is told of ends at all is told of `transferred`: the others come on top of it. */
function Ends({ output }: { output: WebhookOutput | undefined }) {
  const [told, setTold] = useState(output?.events.includes('file.status_changed') ?? true)
  return (
    <fieldset className="space-y-2">
      <legend className="mb-2 font-medium text-sm">Send an event when a file is</legend>
      <CheckField
        name="events"
        value="file.status_changed"
        label="transferred, or partially transferred: the object is in the bucket"
        checked={told}
        onChange={(event) => setTold(event.target.checked)}
      />
      {ENDS.map(([status, label]) => (
        <CheckField
          key={status}
          name="statuses"
          value={status}
          label={label}
          defaultChecked={output?.statuses.includes(status)}
          disabled={!told}
        />
      ))}
      {!told && (
        <p className="text-ink-faint text-xs">The other ends are sent only together with transferred.</p>
      )}
    </fieldset>
  )
}
