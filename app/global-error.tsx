'use client'

import './globals.css'
import { ErrorPage } from '#components/site/error-page.tsx'
import { FailureText } from '#components/site/failure-text.tsx'
import { useRecovery } from '#components/site/use-recovery.ts'

export default function GlobalError() {
  const out = useRecovery()
  return (
    <html lang="en">
      <body>
        <ErrorPage code="500" title="Something went wrong on our side">
          <FailureText out={out} />
        </ErrorPage>
      </body>
    </html>
  )
}
