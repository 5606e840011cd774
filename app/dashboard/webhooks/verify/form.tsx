'use client'

import { useState } from 'react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { SelectField, TextArea, TextField } from '#components/ui/field.tsx'
import { Findings } from '#components/ui/findings.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import type { Explanation } from '#lib/webhooks/signature/explain-signature.ts'
import { explain } from './actions.ts'

const EXAMPLE = `X-Service-Signature: t=…,v1=…
webhook-id: …
webhook-timestamp: …
webhook-signature: v1,…`

export function VerifyForm({ outputs }: { outputs: { id: string; name: string }[] }) {
  const [found, setFound] = useState<Explanation>()
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[1.2fr_1fr]">
      <Panel
        title="The request your receiver got"
        description="Paste it exactly as it arrived. Nothing is stored."
      >
        <ActionForm<Explanation>
          right="operate"
          action={explain}
          submit="Compare"
          onDone={setFound}
          outcome={(found) => <Verdict found={found} />}
        >
          <SelectField
            name="outputId"
            label="Webhook output"
            options={outputs.map(({ id, name }) => [id, name])}
          />
          <TextArea name="headers" label="Headers" mono rows={5} placeholder={EXAMPLE} />
          <TextArea
            name="body"
            label="Raw body"
            mono
            rows={8}
            placeholder='{"id":"…","event":"file.status_changed",…}'
          />
          <TextField name="secret" label="Secret that the receiver uses" optional type="password" mono />
        </ActionForm>
      </Panel>
      <div aria-live="polite">{found ? <Verdict found={found} /> : <Hints />}</div>
    </div>
  )
}

const MEANINGS = {
  true: { tone: 'good', said: 'matches' },
  false: { tone: 'bad', said: 'differs' },
  undefined: { tone: 'calm', said: 'not checked' },
} as const

function Verdict({ found }: { found: Explanation }) {
  return (
    <Panel title="Findings">
      {found.valid ? (
        <Notice tone="good" title="This webhook is from Sluice." />
      ) : (
        <Notice tone="bad" title="A receiver must reject this webhook." />
      )}
      <div className="mt-4">
        <Findings
          findings={found.parts.map(({ name, ok, text }) => ({ ...MEANINGS[`${ok}`], name, text }))}
        />
      </div>
    </Panel>
  )
}

function Hints() {
  return (
    <Panel title="If it does not match">
      <ul className="list-disc space-y-1.5 pl-4 text-ink-soft text-sm">
        <li>The body was parsed and serialized again before it was verified. Use the raw bytes.</li>
        <li>The entire secret was used as the key. The key is the base64 after whsec_, decoded.</li>
        <li>The secret belongs to another output, or has been rotated since.</li>
        <li>One of the clocks is off by more than five minutes.</li>
      </ul>
    </Panel>
  )
}
