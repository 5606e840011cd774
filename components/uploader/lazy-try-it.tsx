'use client'

import dynamic from 'next/dynamic'

/** Uppy is large, and of no use before the page is there. */
export const LazyTryIt = dynamic(() => import('./try-it.tsx').then((module) => module.TryIt), {
  ssr: false,
  loading: () => (
    <div role="status" className="h-[26.25rem] animate-pulse rounded-lg border bg-surface">
      <span className="sr-only">The uploader is on its way.</span>
    </div>
  ),
})
