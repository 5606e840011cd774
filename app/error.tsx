'use client'

import { ErrorPage } from '#components/site/error-page.tsx'
import { FailureText } from '#components/site/failure-text.tsx'
import { useRecovery } from '#components/site/use-recovery.ts'
import { Button } from '#components/ui/button.tsx'

type Props = { error: Error & { digest?: string } }

export default function PageError({ error }: Props) {
  const out = useRecovery()
  return (
    <ErrorPage
      code={out ? '503' : '500'}
      title={out ? 'Sluice cannot reach its database' : 'Something went wrong on our side'}
      action={
        <Button tone="primary" onClick={() => window.location.reload()}>
          Try again
        </Button>
      }
    >
      <p role="status">
        <FailureText out={out} digest={error.digest} />
      </p>
    </ErrorPage>
  )
}
