'use client'

import { Pause, Play } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { LiveUpload, Topic } from '#lib/dashboard/live.ts'
import { Button } from '../ui/button.tsx'

type Told = { uploads?: LiveUpload[]; mark?: string }

const POLL_MS = 5000

/** Calls `onChange` whenever the topic changes; the first call has the current state. */
export function useLive(topic: Topic, paused: boolean, onChange: (told: Told) => void): void {
  const tell = useEffectEvent(onChange)
  useEffect(() => {
    if (paused) return
    let poll: ReturnType<typeof setInterval> | undefined
    const source = new EventSource(`/api/live?topic=${encodeURIComponent(topic)}`)
    source.onmessage = (event) => tell(JSON.parse(event.data))
    source.onerror = () => {
      // EventSource reconnects automatically unless the server refused the connection; then the page polls.
      if (source.readyState === EventSource.CLOSED && !poll) poll = setInterval(() => tell({}), POLL_MS)
    }
    return () => {
      source.close()
      clearInterval(poll)
    }
  }, [topic, paused])
}

const REST_MS = 1000

/** `seen` is the mark the server read before rendering; later changes have a different one. */
type Props = { topic: Topic; seen: string; paused?: boolean }

/** Re-renders the page when it is out of date, at most once a second. */
export function LiveRefresh({ topic, seen, paused = false }: Props) {
  const router = useRouter()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useLive(topic, paused, ({ mark }) => {
    if (mark === seen) return
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      router.refresh()
    }, REST_MS)
  })
  // Pausing the list also cancels a pending update.
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
    },
    [paused],
  )
  return null
}

/** Keeps the list up to date until the user pauses it. */
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
