'use client'

import dynamic from 'next/dynamic'
import { useEffect, useState } from 'react'
import { PickFiles } from './pick-files.tsx'
import { isUnfinished } from './unfinished.ts'

const TryIt = dynamic(() => import('./try-it.tsx').then((module) => module.TryIt), {
  ssr: false,
  loading: () => (
    <div role="status" className="h-[26.25rem] animate-pulse rounded-lg border bg-surface">
      <span className="sr-only">The uploader is on its way.</span>
    </div>
  ),
})

/** Uppy is as large as half of the page: it comes with the first file, or at once where one of an earlier visit goes on. */
export function LazyTryIt({ pipeId, endpoint }: { pipeId: string; endpoint: string }) {
  const [files, setFiles] = useState<File[]>()
  useEffect(() => {
    if (isUnfinished(pipeId)) setFiles([])
  }, [pipeId])
  if (!files) return <PickFiles onPick={setFiles} />
  return <TryIt pipeId={pipeId} endpoint={endpoint} files={files} />
}
