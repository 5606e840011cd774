'use client'

import { Eye, EyeOff, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { ActionForm } from './action-form.tsx'
import { Button } from './button.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { Copyable } from './copyable.tsx'
import type { FormAction } from './form-state.ts'
import { SecretShown } from './secret-once.tsx'
import { Time } from './time.tsx'

type ShowSecret = FormAction<{ secret: string }>
type Props = { reveal: ShowSecret; rotate: ShowSecret; previousSecretUntil: string | null }

/** The secret is only loaded on request. */
export function SecretPanel({ reveal, rotate, previousSecretUntil }: Props) {
  const [secret, setSecret] = useState<string>()
  return (
    <div className="border-t pt-4">
      <p className="mb-1.5 font-medium text-sm">Secret</p>
      <div className="flex flex-wrap items-center gap-2">
        {secret ? (
          <Copyable text={secret} what="webhook secret" className="basis-72 max-sm:w-full" />
        ) : (
          <code className="mr-2 font-mono text-ink-faint text-xs">whsec_••••••••••••••••</code>
        )}
        {secret ? (
          <Button onClick={() => setSecret(undefined)} icon={EyeOff}>
            Hide
          </Button>
        ) : (
          <ActionForm<{ secret: string }>
            action={reveal}
            submit="Reveal"
            submitTone="plain"
            icon={<Eye aria-hidden />}
            onDone={(data) => setSecret(data.secret)}
            outcome={(data) => <code className="break-all font-mono text-xs">{data.secret}</code>}
          />
        )}
        <ConfirmDialog<{ secret: string }>
          trigger={<Button icon={RefreshCw}>Rotate</Button>}
          title="Rotate the secret"
          confirm="Rotate"
          action={rotate}
          onDone={(data) => setSecret(data.secret)}
          outcome={(data) => <SecretShown title="The new webhook secret" secret={data.secret} />}
        >
          <p>
            You get a new secret. For 24 hours, requests are signed with both, so that your receivers can
            switch.
          </p>
        </ConfirmDialog>
      </div>
      {previousSecretUntil && new Date(previousSecretUntil) > new Date() && (
        <p className="mt-2 text-ink-faint text-sm">
          Requests are also signed with the previous secret, which expires <Time at={previousSecretUntil} />.
        </p>
      )}
    </div>
  )
}
