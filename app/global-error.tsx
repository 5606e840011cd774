'use client'

import './globals.css'
import { ErrorPage } from '#components/site/error-page.tsx'

export default function GlobalError() {
  return (
    <html lang="en">
      <body>
        <ErrorPage code="500" title="Something went wrong on our side">
          It was noted in the log. Uploads under way are not affected.
        </ErrorPage>
      </body>
    </html>
  )
}
