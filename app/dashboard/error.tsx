'use client'

import { FailureText } from '#components/site/failure-text.tsx'
import { useRecovery } from '#components/site/use-recovery.ts'
import { Button } from '#components/ui/button.tsx'
import { Notice } from '#components/ui/notice.tsx'

type Props = { error: Error & { digest?: string } }

/** Rendered inside the shell, so that navigation still works. */
export default function DashboardError({ error }: Props) {
  const out = useRecovery()
  return (
    <Notice
      tone="bad"
      title="This page could not be shown"
      action={
        <Button size="sm" onClick={() => window.location.reload()}>
          Try again
        </Button>
      }
    >
      <FailureText out={out} digest={error.digest} />
    </Notice>
  )
}
