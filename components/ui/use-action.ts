'use client'

import { useActionState, useState, useTransition } from 'react'
import type { FormAction, FormState } from './form-state.ts'
import { notify } from './toaster.tsx'

const IDLE = { status: 'idle' } as const

/**
 * Runs a form's action and keeps its answer. Before the page's script has loaded, the browser posts the form to `post`,
 * and the resulting page starts with that answer. Afterwards, `send` runs the action, so that `onAnswer` is called
 * even if the answer removes the form from the page.
 */
export function useAction<Data>(action: FormAction<Data>, onAnswer: (answer: FormState<Data>) => void) {
  const [posted, post] = useActionState(action, IDLE as Awaited<FormState<Data>>)
  const [answer, setAnswer] = useState<FormState<Data>>(posted)
  const [busy, start] = useTransition()

  /** `showAhead` may update what `useOptimistic` shows until the answer arrives. */
  function send(data: FormData, showAhead?: () => void) {
    start(async () => {
      showAhead?.()
      const answer = await action(IDLE, data)
      setAnswer(answer)
      if (answer.status === 'done' && answer.message) notify.done(answer.message)
      onAnswer(answer)
    })
  }
  return { answer, wasPosted: answer === posted, busy, post, send }
}
