'use client'

import dynamic from 'next/dynamic'
import { useEffect, useState } from 'react'
import type { News } from './toasts.tsx'

const Toasts = dynamic(() => import('./toasts.tsx').then((module) => module.Toasts), { ssr: false })
const NEWS = 'sluice:news'

/** A dismissible toast would take focus and later give it back. Instead, Tab skips these toasts. */
const PASSED_BY = { dismissible: false }

const tell = (news: News) => void window.dispatchEvent(new CustomEvent<News>(NEWS, { detail: news }))

/** Short feedback on the user's action; anything that must be read is shown on the page instead. */
export const notify = {
  done: (message: string) => tell((toast) => toast.success(message, PASSED_BY)),
  failed: (message: string) => tell((toast) => toast.error(message, PASSED_BY)),
  /** A message with an undo button. */
  undoable: (message: string, undo: () => void) =>
    tell((toast) => toast(message, { duration: 8000, action: { label: 'Undo', onClick: undo } })),
}

/** Loads the toasts' code with the first message. */
export function Toaster() {
  const [news, setNews] = useState<News[]>([])
  useEffect(() => {
    const hear = (event: Event) => setNews((before) => [...before, (event as CustomEvent<News>).detail])
    window.addEventListener(NEWS, hear)
    return () => window.removeEventListener(NEWS, hear)
  }, [])
  return news.length > 0 ? <Toasts news={news} /> : null
}
