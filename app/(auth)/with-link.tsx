'use client'

import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { Notice } from '#components/ui/notice.tsx'

/** The page that an email link opens. Without the token after the #, it shows instructions instead. */
export function WithLink({ next, children }: { next: ReactNode; children: ReactNode }) {
  useEffect(restoreLink, [])
  // Without JavaScript, the user pastes the link into the form.
  const hasLink = useSyncExternalStore(
    onHash,
    () => window.location.hash.length > 1,
    () => true,
  )
  if (hasLink) return children
  return (
    <Notice tone="warn" title="This link is incomplete" action={next}>
      Open the full link from your email, including everything after the #.
    </Notice>
  )
}

function onHash(changed: () => void): () => void {
  window.addEventListener('hashchange', changed)
  return () => window.removeEventListener('hashchange', changed)
}

/**
 * The key under which this browser tab keeps an email link's token, which follows the #, so that it survives a sign-in
 * with a provider. No server sees the token.
 */
const keyOfPage = () => `sluice.link ${window.location.pathname}`

export function keepLink(): void {
  if (window.location.hash.length > 1) sessionStorage.setItem(keyOfPage(), window.location.hash)
}

/** Puts the token back into the address, where every script looks for it. */
export function restoreLink(): void {
  const kept = sessionStorage.getItem(keyOfPage())
  if (!kept || window.location.hash.length > 1) return
  sessionStorage.removeItem(keyOfPage())
  window.location.hash = kept
}
