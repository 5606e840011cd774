'use client'

import { Pause, Play } from 'lucide-react'
import { useState } from 'react'
import type { Topic } from '#lib/dashboard/live.ts'
import { Button } from '../ui/button.tsx'
import { LiveRefresh } from './live-refresh.tsx'

/** The list follows what happens until it is told to stand still. */
export function LiveTail({ topic, seen }: { topic: Topic; seen: string }) {
  const [paused, setPaused] = useState(false)
  return (
    <>
      <LiveRefresh topic={topic} seen={seen} paused={paused} />
      <Button tone="quiet" aria-pressed={paused} onClick={() => setPaused(!paused)}>
        {paused ? <Play aria-hidden /> : <Pause aria-hidden />}
        {paused ? 'Paused' : 'Live'}
        {!paused && <span className="size-1.5 animate-pulse rounded-full bg-good" aria-hidden />}
      </Button>
    </>
  )
}
