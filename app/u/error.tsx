'use client'

import { useRecovery } from '#components/site/use-recovery.ts'
import { Button } from '#components/ui/button.tsx'
import { useFailedTexts } from './failed-texts.tsx'

/** For people without an account, in their language: nothing here leads to the dashboard. */
export default function LinkError() {
  useRecovery()
  const { title, text, again } = useFailedTexts()
  return (
    <main id="main" className="mx-auto w-full max-w-xl px-4 pt-[20vh]">
      <title>{title}</title>
      <h1 className="font-semibold text-3xl tracking-[-0.025em]">{title}</h1>
      <p className="mt-3 mb-6 text-base text-ink-soft">{text}</p>
      <Button tone="primary" onClick={() => window.location.reload()}>
        {again}
      </Button>
    </main>
  )
}
