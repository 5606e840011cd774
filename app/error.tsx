'use client'

import { ErrorPage } from '#components/site/error-page.tsx'
import { Button } from '#components/ui/button.tsx'

type Props = { error: Error & { digest?: string }; reset: () => void }

export default function PageError({ error, reset }: Props) {
  return (
    <ErrorPage
      code="500"
      title="Something went wrong on our side"
      action={
        <Button tone="primary" onClick={reset}>
          Try again
        </Button>
      }
    >
      <p>
        It was noted in the log{error.digest ? ` as ${error.digest}` : ''}. Uploads under way are not
        affected.
      </p>
    </ErrorPage>
  )
}
