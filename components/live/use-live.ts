'use client'

import { useEffect, useEffectEvent } from 'react'
import type { LiveUpload, Topic } from '#lib/dashboard/live.ts'

type Told = { uploads?: LiveUpload[]; mark?: string }

const POLL_MS = 5000

/** Calls back whenever the topic changes; the first call is the state of now. */
export function useLive(topic: Topic, paused: boolean, onChange: (told: Told) => void): void {
  const tell = useEffectEvent(onChange)
  useEffect(() => {
    if (paused) return
    let poll: ReturnType<typeof setInterval> | undefined
    const source = new EventSource(`/api/live?topic=${encodeURIComponent(topic)}`)
    source.onmessage = (event) => tell(JSON.parse(event.data))
    source.onerror = () => {
      // It reconnects by itself unless the server refused; then the page looks now and then.
      if (source.readyState === EventSource.CLOSED && !poll) poll = setInterval(() => tell({}), POLL_MS)
    }
    return () => {
      source.close()
      clearInterval(poll)
    }
  }, [topic, paused])
}
