'use client'

import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { Notice } from '../ui/notice.tsx'
import { restoreLink } from './kept-link.ts'

/**
 * What a mail's link opens. Nothing could come of it without the link, whose token stands after the #: then what to do
 * stands in its place.
 */
export function WithLink({ next, children }: { next: ReactNode; children: ReactNode }) {
  useEffect(restoreLink, [])
  // Without a script the link is pasted into the form.
  const hasLink = useSyncExternalStore(
    onHash,
    () => window.location.hash.length > 1,
    () => true,
  )
  if (hasLink) return children
  return (
    <Notice tone="warn" title="The end of the link is missing" action={next}>
      Open this page with the complete link from the mail, including what follows the #.
    </Notice>
  )
}

function onHash(changed: () => void): () => void {
  window.addEventListener('hashchange', changed)
  return () => window.removeEventListener('hashchange', changed)
}
