'use client'

import { useState } from 'react'
import { saveWebhook } from '#app/dashboard/webhooks/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { CheckField, TextField } from '../ui/field.tsx'
import { SecretOnce } from '../ui/secret-once.tsx'

const OPTIONAL = [
  ['failed', 'failed: given up, with a reason'],
  ['expired', 'expired: not finished in time'],
  ['canceled', 'canceled: ended by the client or by you'],
] as const

type Props = {
  pipeId: string
  url: string
  statuses: string[]
  enabled: boolean
  inboxUrl: string
  submit: string
}

export function WebhookForm({ pipeId, url, statuses, enabled, inboxUrl, submit }: Props) {
  const [address, setAddress] = useState(url)
  const [secret, setSecret] = useState<string>()
  return (
    <>
      <ActionForm<{ secret?: string }>
        action={saveWebhook.bind(null, pipeId)}
        submit={submit}
        submitTone={url ? 'plain' : 'primary'}
        onDone={(data) => setSecret(data.secret)}
      >
        <input type="hidden" name="enabled" value={enabled ? 'on' : 'off'} />
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
                <button
                  type="button"
                  className="text-water underline decoration-water-line underline-offset-3 hover:decoration-current"
                  onClick={() => setAddress(inboxUrl)}
                >
                  Use your inbox
                </button>
              </>
            )
          }
        />
        <fieldset className="space-y-2">
          <legend className="mb-2 font-medium text-sm">Send an event when a file is</legend>
          <CheckField
            name="always"
            label="transferred: the object is in the bucket"
            checked
            disabled
            readOnly
          />
          {OPTIONAL.map(([status, label]) => (
            <CheckField
              key={status}
              name="statuses"
              value={status}
              label={label}
              defaultChecked={statuses.includes(status)}
            />
          ))}
        </fieldset>
      </ActionForm>
      {secret && (
        <SecretOnce
          revealable
          title="Your webhook secret"
          what="webhook secret"
          secret={secret}
          onSaved={() => setSecret(undefined)}
        >
          <p className="text-ink-soft text-sm">Your receiver verifies each webhook with it.</p>
        </SecretOnce>
      )}
    </>
  )
}
