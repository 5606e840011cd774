'use client'

import { Send } from 'lucide-react'
import { useState } from 'react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { useSecretOnce } from '#components/ui/secret-once.tsx'
import type { HookAnswer } from '#lib/hooks/hook.ts'
import type { HookTest } from '#lib/hooks/test-hook.ts'
import { saveDecisionHook, sendTestQuestion } from './actions.ts'
import { HOOK_WORDS } from './hook-words.ts'

type Props = { pipeId: string; kind: HookAnswer['hook']; hook: HookAnswer | undefined }

export function HookForm({ pipeId, kind, hook }: Props) {
  const { answers, dialog } = useSecretOnce({
    revealable: true,
    title: 'Your hook secret',
    what: 'hook secret',
    secretOf: (made: { secret: string } | undefined) => made?.secret,
    note: 'Your backend uses it to verify each request.',
  })
  const { refuse, allow } = HOOK_WORDS[kind]
  return (
    <>
      <ActionForm
        right="build"
        action={saveDecisionHook.bind(null, pipeId, kind)}
        submit={hook ? 'Save' : 'Switch on'}
        submitTone={hook ? 'plain' : 'primary'}
        {...answers}
      >
        <TextField
          name="url"
          label="Address"
          type="url"
          mono
          defaultValue={hook?.url}
          placeholder="https://api.example.com/decide"
        />
        <div className="grid gap-5 sm:grid-cols-2">
          <TextField
            name="timeoutSeconds"
            label="Seconds to wait for a response"
            inputMode="numeric"
            defaultValue={hook?.timeoutSeconds ?? 5}
            hint="From 1 to 30. Sluice makes up to three attempts."
          />
          <SelectField
            name="withoutAnswer"
            label="Without a response"
            defaultValue={hook?.withoutAnswer ?? 'refuse'}
            options={[
              ['refuse', refuse],
              ['allow', allow],
            ]}
          />
        </div>
      </ActionForm>
      {dialog}
    </>
  )
}

/** Sends a test request and shows the response; nothing is stored. */
export function SendTestQuestion({ pipeId, kind }: { pipeId: string; kind: HookAnswer['hook'] }) {
  const [test, setTest] = useState<HookTest>()
  return (
    <div className="space-y-3 border-t pt-4">
      <ActionForm<HookTest>
        right="operate"
        action={sendTestQuestion.bind(null, pipeId, kind)}
        submit="Send a test"
        submitTone="plain"
        icon={<Send aria-hidden />}
        onDone={setTest}
        outcome={(data) => <Outcome test={data} />}
      />
      <div aria-live="polite">{test && <Outcome test={test} />}</div>
    </div>
  )
}

function Outcome({ test: { answer, fault, milliseconds } }: { test: HookTest }) {
  if (fault !== null)
    return (
      <Notice tone="bad" title={`No response after ${milliseconds} ms`}>
        {fault}
      </Notice>
    )
  return (
    <Notice tone="good" title={`Your backend responded within ${milliseconds} ms`}>
      <code className="break-all font-mono text-xs">{JSON.stringify(answer)}</code>
    </Notice>
  )
}
