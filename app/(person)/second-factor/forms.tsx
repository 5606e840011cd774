'use client'

import { ActionForm } from '#components/ui/action-form.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { PasswordField, TextField } from '#components/ui/field.tsx'
import { Done } from '#components/ui/notice.tsx'
import { beginFactor, disableFactor, enableFactor, giveCode } from './actions.ts'

const OF_EITHER = 'The six digits from your authenticator, or one of your recovery codes.'

function CodeField({ hint }: { hint: string }) {
  return (
    <TextField
      name="code"
      label="Code"
      inputMode="text"
      autoComplete="one-time-code"
      autoFocus
      maxLength={30}
      hint={hint}
      mono
    />
  )
}

export function GiveCode() {
  return (
    <ActionForm action={giveCode} submit="Continue">
      <CodeField hint={OF_EITHER} />
    </ActionForm>
  )
}

export function DisableFactor() {
  return (
    <ActionForm action={disableFactor} submit="Turn it off" submitTone="danger" width="sm">
      <CodeField hint={OF_EITHER} />
    </ActionForm>
  )
}

type Setup = { svg: string; secret: string }

export function SetUpFactor({ hasPassword }: { hasPassword: boolean }) {
  return (
    <ActionForm<Setup>
      action={beginFactor}
      submit="Set up"
      width="sm"
      instead={(setup) => <Confirm setup={setup} />}
    >
      {hasPassword && (
        <PasswordField hint="Required again, so that someone who takes over your session cannot lock you out." />
      )}
    </ActionForm>
  )
}

function Confirm({ setup }: { setup: Setup }) {
  return (
    <ActionForm<string[]>
      action={enableFactor}
      submit="Turn it on"
      width="sm"
      instead={(codes) => <RecoveryCodes codes={codes} />}
    >
      <p className="text-sm">
        Scan this with an authenticator app, or enter the key by hand. Then enter the code it shows.
      </p>
      <div
        role="img"
        aria-label="QR code for your authenticator; the key below contains the same secret"
        className="w-48 overflow-hidden rounded-md border bg-white"
        dangerouslySetInnerHTML={{ __html: setup.svg }}
      />
      <p className="flex items-center gap-2">
        <code className="min-w-0 break-all font-mono text-xs">{setup.secret}</code>
        <CopyButton text={setup.secret} what="key" />
      </p>
      <CodeField hint="The six digits your authenticator shows now." />
    </ActionForm>
  )
}

function RecoveryCodes({ codes }: { codes: string[] }) {
  return (
    <Done title="Keep these recovery codes" goOn="I have saved them">
      <p className="mb-3">
        Each code signs you in once if you do not have your authenticator. The codes are not shown again.
      </p>
      <ul className="mb-3 grid grid-cols-2 gap-x-6 gap-y-1 font-mono text-sm">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <CopyButton text={codes.join('\n')} what="recovery codes" />
    </Done>
  )
}
