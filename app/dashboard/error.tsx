'use client'

import { Button } from '#components/ui/button.tsx'
import { Notice } from '#components/ui/notice.tsx'

type Props = { error: Error & { digest?: string }; reset: () => void }

/** Inside the shell, so that the way to the other pages stays. */
export default function DashboardError({ error, reset }: Props) {
  return (
    <Notice
      tone="bad"
      title="This page could not be shown"
      action={
        <Button size="sm" onClick={reset}>
          Try again
        </Button>
      }
    >
      It was noted in the log{error.digest ? ` as ${error.digest}` : ''}. Uploads under way are not affected.
    </Notice>
  )
}
