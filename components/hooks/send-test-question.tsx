'use client'

import { Send } from 'lucide-react'
import { useState } from 'react'
import { sendTestQuestion } from '#app/dashboard/pipes/hook-actions.ts'
import type { HookAnswer } from '#lib/hooks/hook.ts'
import type { HookTest } from '#lib/hooks/test-hook.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Notice } from '../ui/notice.tsx'

/** Shows what came back, here and now: nothing is stored. */
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
      <Notice tone="bad" title={`No answer, after ${milliseconds} ms`}>
        {fault}
      </Notice>
    )
  return (
    <Notice tone="good" title={`It answered within ${milliseconds} ms`}>
      <code className="break-all font-mono text-xs">{JSON.stringify(answer)}</code>
    </Notice>
  )
}
