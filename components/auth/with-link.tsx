'use client'

import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { Notice } from '../ui/notice.tsx'

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
    <Notice tone="warn" title="This link is incomplete" action={next}>
      Open this page with the complete link from the mail, including what follows the #.
    </Notice>
  )
}

function onHash(changed: () => void): () => void {
  window.addEventListener('hashchange', changed)
  return () => window.removeEventListener('hashchange', changed)
}

/**
 * The token of a mail's link stands after the #. Whoever signs in at a provider in between finds it again when they are back: it stays in
 * this tab of their browser, and no server sees it.
 */
const keyOfPage = () => `sluice.link ${window.location.pathname}`

export function keepLink(): void {
  if (window.location.hash.length > 1) sessionStorage.setItem(keyOfPage(), window.location.hash)
}

/** Back into the address, where every script looks for it. */
export function restoreLink(): void {
  const kept = sessionStorage.getItem(keyOfPage())
  if (!kept || window.location.hash.length > 1) return
  sessionStorage.removeItem(keyOfPage())
  window.location.hash = kept
}
